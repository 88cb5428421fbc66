//! Comments that allow findings: `# mle-star: allow RULE: reason`, on the line of the finding or above it.

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_text_size::{Ranged, TextRange};

use crate::finding::Finding;
use crate::rules::Rule;
use crate::source::Lines;

/// What was found in a script that its author may have commented on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reviewed {
    /// The findings that no comment allows, in the order of their lines. A comment without a reason is one of them.
    pub findings: Vec<Finding>,
    /// The findings that a comment allows.
    pub allowed: Vec<Allowed>,
    /// Whether a score is computed, or something is called like one. Otherwise there is nothing that could leak.
    pub has_score: bool,
}

/// A finding that a comment allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// What was found.
    pub finding: Finding,
    /// Why it is allowed.
    pub reason: String,
}

/// A comment that allows findings of some rules.
pub(crate) struct Comment<'a> {
    pub(crate) rules: Vec<Rule>,
    /// What it names that is no rule.
    pub(crate) unknown: Vec<&'a str>,
    pub(crate) reason: &'a str,
    /// The line that it is about.
    line: u32,
    pub(crate) range: TextRange,
}

/// Parts the findings in those that comments allow and the others.
pub(crate) fn review(comments: &[Comment<'_>], findings: Vec<Finding>) -> Reviewed {
    let mut reviewed = Reviewed::default();
    for finding in findings {
        match comments.iter().find(|comment| comment.allows(&finding)) {
            Some(comment) => reviewed.allowed.push(Allowed { finding, reason: comment.reason.to_owned() }),
            None => reviewed.findings.push(finding),
        }
    }
    reviewed
}

/// The comments that allow findings.
pub(crate) fn comments<'a>(source: &'a str, tokens: &Tokens) -> Vec<Comment<'a>> {
    let lines = Lines::new(source);
    let mut comments = Vec::new();
    let mut begins_line = true;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind() == TokenKind::Comment {
            // A comment that has its line for itself is about the next line of code.
            let next = || tokens[at..].iter().find(|token| is_code(token.kind()));
            let about = if begins_line { next().map_or(token.range(), Ranged::range) } else { token.range() };
            comments.extend(Comment::read(source, token.range(), lines.line(about)));
        }
        begins_line = match token.kind() {
            TokenKind::Newline | TokenKind::NonLogicalNewline => true,
            kind => begins_line && !is_code(kind),
        };
    }
    comments
}

fn is_code(kind: TokenKind) -> bool {
    use TokenKind::{Comment, Dedent, Indent, Newline, NonLogicalNewline};
    !matches!(kind, Comment | Dedent | Indent | Newline | NonLogicalNewline)
}

impl<'a> Comment<'a> {
    /// The comment at this range; `None` for one that says something else.
    fn read(source: &'a str, range: TextRange, line: u32) -> Option<Self> {
        let text =
            source.get(range.start().to_usize()..range.end().to_usize())?.trim_start_matches('#').trim();
        let allowed = text.strip_prefix("mle-star:")?.trim().strip_prefix("allow")?;
        if allowed.starts_with(|next: char| !next.is_whitespace() && next != ':') {
            return None;
        }
        let (names, reason) = allowed.split_once(':').unwrap_or((allowed, ""));
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let (mut rules, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match Rule::named(name) {
                Some(rule) => rules.push(rule),
                None => unknown.push(name),
            }
        }
        Some(Self { rules, unknown, reason: reason.trim(), line, range })
    }

    fn allows(&self, finding: &Finding) -> bool {
        let lines = finding.line..=finding.end_line.max(finding.line);
        let may_be = finding.rule != Rule::AllowWithoutReason && !self.reason.is_empty();
        may_be && lines.contains(&self.line) && self.rules.contains(&finding.rule)
    }
}
