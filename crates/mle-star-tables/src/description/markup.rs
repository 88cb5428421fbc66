//! Markdown, HTML and plain text as blocks of text below headings.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::citation::begins_citation;
use super::formula;
use super::sentence::Section;

/// A heading, a paragraph, an item of a list or a row of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) text: String,
    pub(super) section: Section,
    pub(super) is_heading: bool,
}

/// The longest heading that is recognised without a mark, in words.
const LONGEST_HEADING: usize = 6;

/// The blocks of a text, in order.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    let text = without_tags(&text.replace('\u{a0}', " "));
    for event in Parser::new_ext(&text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        reader.take(event);
    }
    reader.flush();
    reader.blocks
}

/// The state of reading.
#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The headings above, with their levels; 7 for a heading without a mark.
    above: Vec<(usize, Section)>,
    text: String,
    /// Text outside of strong emphasis.
    has_plain: bool,
    strong: usize,
    skipped: usize,
    struck: usize,
    /// Whether the last heading is the title.
    is_title: bool,
    /// Whether emphasis began behind a number: `0.6*AUC + 0.4*F1` has none.
    is_product: bool,
    code: String,
    header: Vec<String>,
    cells: Vec<String>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => {
                self.flush();
                self.code.clear();
                self.skipped += 1;
            }
            Event::Start(Tag::MetadataBlock(_)) => self.skipped += 1,
            Event::End(TagEnd::CodeBlock) => {
                self.skipped = 0;
                self.flush();
                self.computed();
            }
            Event::End(TagEnd::MetadataBlock(_)) => self.skipped = 0,
            Event::Text(text) if self.skipped > 0 => self.code.push_str(&text),
            _ if self.skipped > 0 => {}
            Event::Start(Tag::Strikethrough) => self.struck += 1,
            Event::End(TagEnd::Strikethrough) => self.struck = self.struck.saturating_sub(1),
            Event::Text(_) | Event::Code(_) if self.struck > 0 => {}
            Event::Start(Tag::Emphasis) => {
                self.is_product = self.text.ends_with(|letter: char| letter.is_ascii_digit());
                self.times();
            }
            Event::End(TagEnd::Emphasis) => {
                self.times();
                self.is_product = false;
            }
            Event::Start(Tag::Strong) => self.strong += 1,
            Event::End(TagEnd::Strong) => self.strong = self.strong.saturating_sub(1),
            Event::Start(Tag::Heading { .. } | Tag::Paragraph | Tag::Item | Tag::CodeBlock(_)) => {
                self.flush();
            }
            Event::End(TagEnd::Heading(level)) => self.heading(level as usize),
            Event::End(TagEnd::Paragraph | TagEnd::Item) => self.flush(),
            Event::End(TagEnd::TableCell) => {
                self.cells.push(std::mem::take(&mut self.text).trim().to_owned());
            }
            Event::End(TagEnd::TableHead) => {
                self.header = std::mem::take(&mut self.cells);
                // A table without a header has its first row there.
                if let [key, value] = self.header.as_slice() {
                    self.push(format!("{key}: {value}"));
                }
            }
            Event::End(TagEnd::TableRow) => self.row(),
            Event::Text(text) => {
                self.has_plain |= self.strong == 0 && text.chars().any(char::is_alphanumeric);
                self.text.push_str(&text);
            }
            Event::Code(text) => {
                self.has_plain |= self.strong == 0;
                self.text.push_str(&format!("`{text}`"));
            }
            Event::SoftBreak => self.text.push('\n'),
            Event::HardBreak => self.text.push_str("\n\n"),
            Event::Rule => self.flush(),
            _ => {}
        }
    }

    fn times(&mut self) {
        if self.is_product {
            self.text.push('*');
        }
    }

    /// Ends a paragraph or an item.
    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        let is_strong = !std::mem::take(&mut self.has_plain);
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        if is_strong
            && lines.iter().filter(|line| !line.is_empty()).count() == 1
            && words(&text) <= 2 * LONGEST_HEADING
            && !is_remark(text.trim())
        {
            self.text = text;
            self.heading(7);
            return;
        }
        if let [line] = lines[..]
            && words(line) <= 3
            && line.ends_with(':')
            && Section::below(line) == Some(Section::References)
        {
            self.text = text;
            self.heading(7);
            return;
        }
        let mut joined = String::new();
        for (at, line) in lines.iter().enumerate() {
            if at == 0 && lines.len() > 1 && is_title(line, lines[1]) {
                self.text = (*line).to_owned();
                self.heading(7);
            } else if joined.is_empty() || !begins_anew(line) {
                joined.push_str(if joined.is_empty() { "" } else { " " });
                joined.push_str(line);
            } else {
                self.push(std::mem::take(&mut joined));
                (*line).clone_into(&mut joined);
            }
        }
        self.push(joined);
    }

    /// Ends a block of code, which may compute the metric.
    fn computed(&mut self) {
        let code = std::mem::take(&mut self.code);
        let is_evaluation = self.above.last().is_some_and(|(_, section)| *section == Section::Evaluation);
        if let Some(sentence) = formula::computed(&code).filter(|_| is_evaluation) {
            self.push(sentence);
        }
    }

    fn push(&mut self, text: String) {
        if !text.trim().is_empty() {
            let section = self.above.last().map_or(Section::Other, |(_, section)| *section);
            self.blocks.push(Block { text, section, is_heading: false });
        }
    }

    fn heading(&mut self, level: usize) {
        let text = std::mem::take(&mut self.text);
        self.has_plain = false;
        if std::mem::take(&mut self.is_title) {
            self.above.clear();
        }
        self.above.retain(|(above, _)| *above < level);
        let inherited = self.above.last().map_or(Section::Other, |(_, section)| *section);
        let section = Section::below(&text).unwrap_or(inherited);
        // "# The House Prize" is the title of all, "# Prize money" is a heading, though nothing below other headings.
        self.is_title = level == 1 && words(&text) > 1 && self.blocks.is_empty() && is_beside(section);
        let first = text.split_whitespace().next().unwrap_or_default();
        let is_other = self.is_title && Section::below(first).is_none();
        let section = if is_other { Section::Other } else { section };
        self.above.push((level, section));
        self.blocks.push(Block { text, section, is_heading: true });
    }

    fn row(&mut self) {
        let cells = std::mem::take(&mut self.cells);
        let text = match (cells.as_slice(), self.header.len() == cells.len()) {
            ([key, value], _) => format!("{key}: {value}"),
            (cells, true) => {
                let pairs = self.header.iter().zip(cells);
                pairs.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join("; ")
            }
            (cells, false) => cells.join("; "),
        };
        self.push(text);
    }
}

fn words(text: &str) -> usize {
    text.split_whitespace().count()
}

fn is_beside(section: Section) -> bool {
    matches!(section, Section::Aside | Section::References)
}

/// Whether a strong line is a sentence beside the matter, such as `**See the baseline notebook.**`, and no heading.
fn is_remark(line: &str) -> bool {
    let is_sentence = line.ends_with(['.', '!', '?']) || line.contains(": ");
    is_sentence && Section::below(line).is_some_and(is_beside)
}

/// Whether a paragraph's first line is a heading without a mark: a few words without an end, and a new start after them.
fn is_title(line: &str, next: &str) -> bool {
    let ends = line.ends_with(['.', '!', '?', ',', ';']);
    let is_new = next.starts_with(|c: char| c.is_uppercase() || c.is_numeric() || c == '[');
    words(line) <= LONGEST_HEADING
        && !ends
        && is_new
        && Section::below(line).is_some()
        && !line.contains(": ")
}

/// Whether a line begins with a name and a colon, as in `Metric: RMSE`, or with authors, or follows an empty line.
fn begins_anew(line: &str) -> bool {
    let key = line.split_once(':').map(|(key, _)| key);
    line.is_empty()
        || begins_citation(line)
        || key.is_some_and(|key| words(key) <= 3 && key.starts_with(char::is_uppercase) && !key.contains('.'))
}

/// The text with HTML tags as Markdown: headings, and breaks between blocks. Entities become letters.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        out.push_str(before);
        let is_tag = tag[1..].trim_start_matches('/').starts_with(|c: char| c.is_ascii_alphabetic());
        let end = tag.find('>').filter(|end| {
            is_tag
                && !tag[1..*end].contains(['<', '\n'])
                && !tag[..*end].contains("://") | tag[..*end].contains('=')
        });
        let Some(end) = end else {
            out.push('<');
            rest = &tag[1..];
            continue;
        };
        out.push_str(&in_markdown(&tag[1..end]));
        rest = &tag[end + 1..];
    }
    out.push_str(rest);
    let entities =
        [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(out, |text, (entity, letter)| text.replace(entity, letter))
}

fn in_markdown(tag: &str) -> String {
    let is_end = tag.starts_with('/');
    let name: String = tag.trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric).collect();
    let name = name.to_lowercase();
    match (name.as_str(), is_end) {
        ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => {
            let level = name[1..].parse().unwrap_or(1);
            format!("\n\n{} ", "#".repeat(level))
        }
        ("li", false) => "\n\n- ".to_owned(),
        ("td" | "th", true) => " ".to_owned(),
        ("strong" | "b", _) => "**".to_owned(),
        (
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "p" | "br" | "div" | "li" | "ul" | "ol" | "tr"
            | "table" | "section",
            _,
        ) => "\n\n".to_owned(),
        _ => String::new(),
    }
}
