//! Scripts in pairs: one with leaks, and one in which they are mended.

use std::collections::{BTreeMap, BTreeSet};

use mle_star_leakage::{Facts, Finding, Rule, Split, check, review};

use crate::scripts::scripts;

/// A script of the corpus.
struct Script {
    name: String,
    expected: Vec<(String, u32)>,
    findings: Vec<Finding>,
}

fn read((name, source): (String, String)) -> Script {
    let of = |prefix: &str| {
        source.lines().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned).collect::<Vec<_>>()
    };
    let facts =
        of("# facts: ").first().map_or_else(Facts::default, |text| serde_json::from_str(text).unwrap());
    let expected = of("# expect: ")
        .iter()
        .map(|line| {
            let (rule, line) = line.split_once(' ').unwrap();
            (rule.to_owned(), line.parse().unwrap())
        })
        .collect();
    Script { name, expected, findings: check(&source, &facts).unwrap() }
}

fn shown(findings: &[Finding]) -> String {
    findings
        .iter()
        .map(|finding| format!("\n    {} {}: {}", finding.rule, finding.line, finding.text))
        .collect()
}

/// Every leak is found in its line, and nothing else blocks.
#[test]
fn leaks_are_found() {
    let mut wrong = Vec::new();
    for script in scripts("leaks").into_iter().map(read) {
        let found: Vec<(String, u32)> =
            script.findings.iter().map(|finding| (finding.rule.to_string(), finding.line)).collect();
        let missed = script.expected.iter().filter(|expected| !found.contains(expected)).count();
        let blocking = script.findings.iter().filter(|finding| finding.rule.blocks());
        let more = blocking
            .filter(|finding| !script.expected.contains(&(finding.rule.to_string(), finding.line)))
            .count();
        if missed + more > 0 {
            wrong.push(format!(
                "{}: expected {:?}, found {}",
                script.name,
                script.expected,
                shown(&script.findings)
            ));
        }
    }
    assert!(wrong.is_empty(), "{} scripts\n{}", wrong.len(), wrong.join("\n"));
}

/// Nothing blocks in a mended script, and what was mended is not found any more.
#[test]
fn mended_scripts_pass() {
    let mut wrong = Vec::new();
    let leaking: BTreeMap<String, String> = scripts("leaks").into_iter().collect();
    for (name, source) in scripts("mended") {
        let leaking = read((name.clone(), leaking[&name].clone()));
        let script = read((name, source));
        let mended: Vec<&String> = leaking.expected.iter().map(|(rule, _)| rule).collect();
        let bad = script
            .findings
            .iter()
            .any(|finding| finding.rule.blocks() || mended.contains(&&finding.rule.to_string()));
        if bad {
            wrong.push(format!("{}: {}", script.name, shown(&script.findings)));
        }
    }
    assert!(wrong.is_empty(), "{} scripts\n{}", wrong.len(), wrong.join("\n"));
}

/// Nothing blocks in scripts that are right and only look like some of those with leaks.
#[test]
fn clean_scripts_pass() {
    let mut wrong = Vec::new();
    for script in scripts("clean").into_iter().map(read) {
        if script.findings.iter().any(|finding| finding.rule.blocks()) {
            wrong.push(format!("{}: {}", script.name, shown(&script.findings)));
        }
    }
    assert!(wrong.is_empty(), "{} scripts\n{}", wrong.len(), wrong.join("\n"));
}

/// Each rule has pairs, those that block at least six. A pair is a script with leaks and its mended twin.
#[test]
fn every_rule_has_pairs() {
    let mended: BTreeSet<String> = scripts("mended").into_iter().map(|(name, _)| name).collect();
    assert!(mended.len() >= 120, "{}", mended.len());
    let leaking = scripts("leaks").into_iter().filter(|(name, _)| mended.contains(name));
    let expected: Vec<String> =
        leaking.flat_map(|script| read(script).expected).map(|(rule, _)| rule).collect();
    // No script of a run is asked for comments.
    for rule in Rule::ALL.into_iter().filter(|rule| *rule != Rule::AllowWithoutReason) {
        let pairs = expected.iter().filter(|expected| **expected == rule.id()).count();
        let least = if rule.blocks() { 6 } else { 2 };
        assert!(pairs >= least, "{rule}: {pairs}");
    }
}

/// The first script of a rule's page has this finding alone, in the line that a comment marks or stands above; the second
/// has none.
#[test]
fn pages_show_what_they_say() {
    for rule in Rule::ALL {
        let split = (rule == Rule::RowsInFoldsOfGroups).then(|| Split::Groups(Some("patient".to_owned())));
        let ids = if rule == Rule::IdAsFeature { vec!["id".to_owned()] } else { Vec::new() };
        let facts = Facts { ids, split, ..Facts::default() };
        let blocks = rule.explanation().split("```python\n").skip(1);
        let scripts: Vec<&str> = blocks.map(|block| block.split("```").next().unwrap()).collect();
        let [leaking, clean] = scripts[..] else { panic!("{rule} has {} scripts", scripts.len()) };
        let found = |script: &str| -> Vec<(Rule, u32)> {
            let findings = review(script, &facts).unwrap().findings;
            findings.into_iter().map(|finding| (finding.rule, finding.line)).collect()
        };
        let (mark, line) = leaking.lines().zip(1..).find(|(line, _)| line.ends_with("# leaks")).unwrap();
        assert_eq!(found(leaking), [(rule, line + u32::from(mark == "# leaks"))]);
        assert_eq!(found(clean), [], "{rule}");
    }
}

/// Pages say name and severity, what is found, and what would be right.
#[test]
fn pages_have_their_parts() {
    for rule in Rule::ALL {
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.id());
        let severity = if rule.blocks() { "leak" } else { "warning" };
        assert!(rule.explanation().starts_with(&format!("# {rule} ({severity})\n\n")), "{rule}");
        assert!(rule.description().ends_with('.') && rule.instead().ends_with('.'), "{rule}");
    }
}
