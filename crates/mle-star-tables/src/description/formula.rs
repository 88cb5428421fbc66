//! Formulas and lines of code that name a metric.

use std::ops::Range;

use mle_star_metrics::names::Metric;

/// The text with a name in the place of its only equation, if that is how the metric is computed: `$$MAE = \\frac{1}{n} …$$`.
/// One of several equations may be a part of another.
pub(super) fn with_name(text: &str) -> String {
    // Two marks are one.
    let text = text.replace("$$", "$");
    let (mut equations, mut from) = (Vec::new(), 0);
    while let Some(found) = next_formula(&text[from..]) {
        let (start, end) = (from + found.start, from + found.end);
        if text[start..end].contains('=') {
            equations.push(start..end);
        }
        from = end;
    }
    let [equation] = equations.as_slice() else { return text };
    match name(text[equation.clone()].trim_matches('$')) {
        Some(name) => format!("{}{name}{}", &text[..equation.start], &text[equation.end..]),
        None => text,
    }
}

/// The next formula between dollar signs, with them. A sign before an amount of money begins none.
fn next_formula(text: &str) -> Option<Range<usize>> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find('$')?;
        let end = start + 1 + text[start + 1..].find('$')?;
        let inner = &text[start + 1..end];
        if !(inner.starts_with(|c: char| c.is_ascii_digit()) && inner.contains(' ')) {
            return Some(start..end + 1);
        }
        from = start + 1;
    }
}

/// The metric on the left of an equation.
fn name(equation: &str) -> Option<String> {
    let left = equation.split('=').next()?;
    let commands = [
        "\\textrm",
        "\\text",
        "\\mathrm",
        "\\mathbf",
        "\\operatorname",
        "\\mbox",
        "\\rm",
        "\\,",
        "\\;",
        "\\",
    ];
    let plain = commands.iter().fold(left.to_owned(), |text, command| text.replace(command, ""));
    let name = plain.replace(['{', '}'], "").trim().to_owned();
    Metric::parse(&name).map(|_| name)
}

/// The sentence of a line of code that computes a known metric of the labels and the predictions: `f1_score(y, p, average="macro")`.
/// Other arguments may change the metric.
pub(super) fn computed(code: &str) -> Option<String> {
    let is_about = |line: &&str| {
        !(line.is_empty() || ["#", "import ", "from "].iter().any(|start| line.starts_with(start)))
    };
    let mut lines = code.lines().map(str::trim).filter(is_about);
    let (Some(line), None) = (lines.next(), lines.next()) else { return None };
    let (called, arguments) = line.strip_suffix(')')?.split_once('(')?;
    let called = called.rsplit('=').next()?.trim();
    let function = called.strip_prefix("return ").unwrap_or(called).rsplit('.').next()?.trim();
    let mut average = "";
    for argument in arguments.split(',').map(str::trim) {
        match argument.split_once('=') {
            Some((key, value)) if key.trim() == "average" => average = value.trim().trim_matches(['"', '\'']),
            Some(_) => return None,
            None if argument.chars().all(|letter| letter.is_alphanumeric() || "_.".contains(letter)) => {}
            None => return None,
        }
    }
    Metric::parse(&function.replace('_', " "))?;
    Some(format!("The metric is the {average} {function}."))
}

/// The text without formulas between dollar signs, unless they are short names such as `$F_1$`.
pub(super) fn without(text: &str) -> String {
    const LONGEST_NAME: usize = 16;
    let text = text.replace("$$", "$");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(formula) = next_formula(rest) {
        out.push_str(&rest[..formula.start]);
        let inner = &rest[formula.start + 1..formula.end - 1];
        if inner.len() <= LONGEST_NAME && !inner.contains(['=', '\\']) {
            out.push_str(inner);
        }
        rest = &rest[formula.end..];
    }
    out + rest
}
