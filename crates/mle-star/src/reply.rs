//! Reading what models really send: code in fences or without, JSON in fences or prose, thinking first.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::about::beginning;
use crate::python::is_code;
use mle_star_domain::effects::{AgentReply, Answer};

/// The longest fenced block by characters, and `true`; without a fence, the whole reply, trimmed, which may be prose.
///
/// A fence is a line of at least three backticks or tildes; an unclosed one runs to the end.
fn extract_code_block(reply: &str) -> (String, bool) {
    let reply = clean(reply);
    let longest = fenced_blocks(&reply).into_iter().max_by_key(|block| block.chars().count());
    longest.map_or_else(|| (reply.trim().to_owned(), false), |block| (block, true))
}

/// The Python code of a reply; `None` when it is empty, or unfenced text that is not Python.
pub fn code(reply: &AgentReply) -> Option<String> {
    let (code, is_fenced) = extract_code_block(text(reply)?);
    (!code.trim().is_empty() && (is_fenced || is_code(&code))).then_some(code)
}

/// The prose of a reply, trimmed and without thinking; `None` when nothing is left.
pub fn prose(reply: &AgentReply) -> Option<String> {
    let text = clean(text(reply)?).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The items that a reply lists.
#[derive(Debug, PartialEq)]
pub struct Listed<T> {
    /// The items that can be read, in their order.
    pub items: Vec<T>,
    /// The number of others.
    pub unreadable: usize,
}

/// The list of a structured answer: as given, or found in its text, as `{field: list}`, as a bare list, or as
/// one item alone. `None` if no list has an item that can be read. An empty list is an answer, too; a bare `[]` in the
/// text only if nothing else is, because quoted code is full of them.
pub fn list<T: DeserializeOwned>(reply: &AgentReply, field: &str) -> Option<Listed<T>> {
    let mut bare = None;
    for (value, is_given) in candidates(reply) {
        let is_answer = is_given || value.get(field).is_some();
        let Some(listed) = read_list(value, field) else { continue };
        if is_answer || !listed.items.is_empty() {
            return Some(listed);
        }
        bare.get_or_insert(listed);
    }
    bare
}

/// The object of a structured answer: as given, or found in its text.
pub(crate) fn object<T: DeserializeOwned>(reply: &AgentReply) -> Option<T> {
    candidates(reply).into_iter().find_map(|(value, _)| serde_json::from_value(value).ok())
}

/// What may be a structured answer, and whether it was given as one; otherwise, its text contains it.
fn candidates(reply: &AgentReply) -> Vec<(Value, bool)> {
    let Answer::Text { text, structured } = &reply.answer else { return Vec::new() };
    let found = json_values(&clean(text)).into_iter().map(|value| (value, false));
    structured.iter().map(|value| (value.clone(), true)).chain(found).collect()
}

/// The text of an answer, whatever is in it.
pub(crate) fn text(reply: &AgentReply) -> Option<&str> {
    match &reply.answer {
        Answer::Text { text, .. } => Some(text),
        Answer::Failed { .. } | Answer::Refused { .. } => None,
    }
}

/// The first 200 characters of a failed reply, for a warning.
pub(crate) fn excerpt(reply: &AgentReply) -> String {
    excerpt_of(reply, 200)
}

/// The first characters of a failed reply, for an error.
pub(crate) fn excerpt_of(reply: &AgentReply, characters: usize) -> String {
    match &reply.answer {
        Answer::Text { text, .. } | Answer::Failed { reason: text } => beginning(text, characters),
        Answer::Refused { limit } => limit.name().to_owned(),
    }
}

fn read_list<T: DeserializeOwned>(mut value: Value, field: &str) -> Option<Listed<T>> {
    let values = match value.get_mut(field).map(Value::take) {
        Some(Value::Array(values)) => values,
        Some(_) => return None,
        None => match value {
            Value::Array(values) => values,
            // One item where a list of one was meant.
            one => vec![one],
        },
    };
    let count = values.len();
    let items: Vec<T> = values.into_iter().filter_map(|value| serde_json::from_value(value).ok()).collect();
    let unreadable = count - items.len();
    (unreadable == 0 || !items.is_empty()).then_some(Listed { items, unreadable })
}

/// Line ends made `\n`, leading thinking removed.
fn clean(reply: &str) -> String {
    let reply = reply.replace("\r\n", "\n");
    let mut rest = reply.trim_start();
    for tag in ["think", "thinking", "thought", "reasoning"] {
        let Some(thought) = rest.strip_prefix(&format!("<{tag}>")) else { continue };
        rest = match thought.split_once(&format!("</{tag}>")) {
            Some((_, answer)) => answer.trim_start_matches('\n'),
            None => thought,
        };
    }
    // Some models send only the closing tag.
    if let Some((thought, answer)) = rest.split_once("</think>")
        && !thought.contains("```")
    {
        rest = answer.trim_start_matches('\n');
    }
    rest.to_owned()
}

fn fenced_blocks(reply: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut open: Option<(Fence, Vec<&str>)> = None;
    for line in reply.lines() {
        open = match (open, fence(line)) {
            (None, Some(fence)) => Some((fence, Vec::new())),
            (None, None) => None,
            (Some((start, lines)), Some(end)) if end.closes(&start) => {
                blocks.push(start.dedent(&lines));
                None
            }
            (Some((start, mut lines)), _) => {
                lines.push(line);
                Some((start, lines))
            }
        };
    }
    if let Some((start, lines)) = open {
        blocks.push(start.dedent(&lines));
    }
    blocks
}

#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    bare: bool,
}

/// A line of three or more backticks or tildes, with at most a language name behind them.
fn fence(line: &str) -> Option<Fence> {
    let trimmed = line.trim_start();
    let mark = trimmed.chars().next().filter(|mark| ['`', '~'].contains(mark))?;
    let length = trimmed.chars().take_while(|c| *c == mark).count();
    let info = trimmed[length..].trim();
    let named = info.chars().all(|c| c.is_alphanumeric() || " _+-.#{}=\"".contains(c));
    (length >= 3 && named).then_some(Fence {
        mark,
        length,
        indent: line.len() - trimmed.len(),
        bare: info.is_empty(),
    })
}

impl Fence {
    fn closes(&self, start: &Self) -> bool {
        self.bare && self.mark == start.mark && self.length >= start.length
    }

    /// The lines without the indentation of their fence.
    fn dedent(&self, lines: &[&str]) -> String {
        let strip = |line: &&str| {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            line[blanks.min(self.indent)..].to_owned()
        };
        lines.iter().map(strip).collect::<Vec<_>>().join("\n")
    }
}

/// Every JSON value that can be found in a text: in its fenced blocks, as a whole, or starting at any
/// bracket.
fn json_values(text: &str) -> Vec<Value> {
    let blocks = fenced_blocks(text);
    let sources = blocks.iter().map(String::as_str).chain([text]);
    let value_at = |source: &str, at: usize| -> Option<Value> {
        serde_json::Deserializer::from_str(&source[at..]).into_iter().next()?.ok()
    };
    let values = |source: &'_ str| -> Vec<Value> {
        source.match_indices(['{', '[']).filter_map(|(at, _)| value_at(source, at)).take(50).collect()
    };
    sources.flat_map(values).collect()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Plan {
        code_block: String,
    }

    #[test]
    fn the_longest_block_is_the_code() {
        let check = |reply: &str, text: &str, fenced: bool| {
            assert_eq!(extract_code_block(reply), (text.to_owned(), fenced), "{reply:?}");
        };
        check("```python\nprint('hello')\n```", "print('hello')", true);
        check("```\nprint('hello')\n```\n", "print('hello')", true);
        check("Here:\r\n```python\r\na = 1\r\nb = 2\r\n```\r\nDone.", "a = 1\nb = 2", true);
        check("```py\nx = 1\n```\ntext\n```python\nlonger = 'block'\n```", "longer = 'block'", true);
        check("```python\nx = 1\ny = 2", "x = 1\ny = 2", true);
        check("<think>```python\nno = 1 + 2 + 3\n```</think>\n```python\nx = 1\n```", "x = 1", true);
        check("hmm, let me see</think>\nx = 1", "x = 1", false);
        check("  print('hello')\n", "print('hello')", false);
        check("", "", false);
        check("````md\n```python\nx = 1\n```\n````", "```python\nx = 1\n```", true);
        check("1. First:\n   ```python\n   if a:\n       b()\n   ```", "if a:\n    b()", true);
        check("```python\ns = '''\n``` not a fence\n'''\n```", "s = '''\n``` not a fence\n'''", true);
        check("~~~python\nx = 'ü'\n~~~", "x = 'ü'", true);
    }

    #[test]
    fn unfenced_prose_is_no_code() {
        let check = |reply: &str, expected: Option<&str>| {
            assert_eq!(code(&AgentReply::text(reply)).as_deref(), expected, "{reply:?}");
        };
        check("x = 1", Some("x = 1"));
        check("I cannot do that, sorry.", None);
        check("Sorry", None);
        check("'All the provided information is used.'", None);
        check("```python\n\n```", None);
        check("", None);
        check("```\nnot python at all\n```", Some("not python at all"));
    }

    #[test]
    fn json_is_found_wherever_it_stands() {
        let check = |reply: &str, expected: Option<&[&str]>| {
            let found = list::<Plan>(&AgentReply::text(reply), "plans");
            let blocks =
                found.map(|found| found.items.into_iter().map(|plan| plan.code_block).collect::<Vec<_>>());
            let expected =
                expected.map(|blocks| blocks.iter().map(|block| (*block).to_owned()).collect::<Vec<_>>());
            assert_eq!(blocks, expected, "{reply:?}");
        };
        check(r#"{"plans": [{"code_block": "x", "plan": "p"}]}"#, Some(&["x"]));
        check(r#"[{"code_block": "x"}, {"code_block": "y"}]"#, Some(&["x", "y"]));
        check("Sure! Here is {my} answer:\n```json\n[{\"code_block\": \"x\"}]\n```\nBye", Some(&["x"]));
        check("<think>{\"plans\": []}</think>{\"plans\": [{\"code_block\": \"}{\"}]}", Some(&["}{"]));
        check(r#"My choice is {"code_block": "x"} because."#, Some(&["x"]));
        check(r#"{"plans": [{"code_block": "x"}, {"plan": "p"}, {"code_block": "y"}]}"#, Some(&["x", "y"]));
        check(r#"{"plans": [{"plan": "p"}]}"#, None);
        check(r#"{"plans": []}"#, Some(&[]));
        check("[]", Some(&[]));
        check("```python\noof = []\n```\n```json\n{\"plans\": [{\"code_block\": \"x\"}]}\n```", Some(&["x"]));
        check("`oof = []` is fine: {\"code_block\": \"x\"}", Some(&["x"]));
        check("`oof = []` is fine: {\"plans\": []}", Some(&[]));
        check("no json here", None);
        check("{\"plans\": [{\"code_block\": ", None);
        check("", None);
    }

    #[test]
    fn a_structured_answer_comes_before_the_text() {
        let answer = Answer::Text {
            text: r#"{"plans": []}"#.to_owned(),
            structured: Some(serde_json::json!({"plans": [{"code_block": "x"}]})),
        };
        let reply = AgentReply { answer, ..AgentReply::text("") };
        assert_eq!(list::<Plan>(&reply, "plans").unwrap().items.len(), 1);
    }
}
