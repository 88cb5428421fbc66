//! Formulas and lines of code that name a metric.

use std::ops::Range;

use crate::metrics::Metric;

use super::sentence::among;

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

/// What is computed of a row's truth and prediction, which are both `v` here.
const KERNELS: [(Metric, &[&str]); 6] = [
    (Metric::Rmsle, &["(log(1+v)-log(1+v))^2"]),
    (Metric::Smape, &["|v-v|/((|v|+|v|)/2)", "|v-v|/(|v|+|v|)"]),
    (Metric::Mape, &["|v-v|/|v|", "|(v-v)/v|"]),
    (Metric::Rmse, &["(v-v)^2", "v-v"]),
    (Metric::Mse, &["(v-v)^2", "v-v"]),
    (Metric::Mae, &["|v-v|", "v-v"]),
];

/// What a formula has, but no name of a column or a file.
const OPERATORS: [&str; 7] = [" - ", " / ", "|", "^", "**", ")/", "/("];

/// The next formula between backticks, and whether it is that of the metric.
pub(super) fn in_code(text: &str, from: usize, metric: Metric) -> Option<(Range<usize>, bool)> {
    let (_, kernels) = KERNELS.iter().find(|(of, _)| *of == metric)?;
    let mut at = from;
    while let Some((before, rest)) = text[at..].split_once('`') {
        let (code, _) = rest.split_once('`')?;
        let start = at + before.len();
        let end = start + code.len() + 2;
        if OPERATORS.iter().any(|operator| code.contains(operator)) {
            let bare = bare(&code.replace("np.", ""));
            // What the errors of logarithms are called is read from words.
            let is_other = bare.contains("log(") && metric != Metric::Rmsle;
            let is_own = kernels.iter().any(|kernel| is_around(&bare, kernel));
            return (!is_other).then_some((start..end, is_own));
        }
        at = end;
    }
    None
}

/// Whether nothing but means, roots and factors stands around a part of a formula.
fn is_around(formula: &str, kernel: &str) -> bool {
    let Some((before, after)) = formula.split_once(kernel) else { return false };
    let rest = ["sum", "mean", "average", "avg", "sqrt", "n"]
        .iter()
        .fold(format!("{before}{after}"), |rest, word| rest.replace(word, ""));
    rest.chars().all(|letter| "0123456789./*()^√∑".contains(letter))
}

/// A formula without blanks, in which each quantity is called `v`.
fn bare(code: &str) -> String {
    const FUNCTIONS: &str = "sum mean average avg sqrt log log1p ln abs min max n";
    let (mut bare, mut name) = (String::new(), String::new());
    let letters = code.chars().filter(|letter| !letter.is_whitespace()).chain(['\0']);
    for letter in letters {
        if letter.is_alphabetic() && letter != 'Σ'
            || !name.is_empty() && (letter.is_alphanumeric() || letter == '_')
        {
            name.push(letter);
            continue;
        }
        let lower = std::mem::take(&mut name).to_lowercase();
        bare.push_str(if lower.is_empty() || among(FUNCTIONS, &lower) { &lower } else { "v" });
        bare.push(letter);
    }
    let same = [
        ("\0", ""),
        ("**", "^"),
        ("²", "^2"),
        ("×", "*"),
        ("·", "*"),
        ("Σ", "∑"),
        ("−", "-"),
        ("ln(", "log("),
        ("v+1", "1+v"),
        ("log1p(v)", "log(1+v)"),
        ("abs(v-v)", "|v-v|"),
        ("abs(v)", "|v|"),
    ];
    same.iter().fold(bare, |bare, (one, other)| bare.replace(one, other))
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
