//! Scripts in pairs: one with leaks, and one in which they are mended.

use std::fs;
use std::path::{Path, PathBuf};

use mle_star_leakage::{Facts, Finding, Rule, Severity, check};

/// The scripts whose names end so, with what their first lines say.
pub fn scripts(ending: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<PathBuf> = files.filter(|path| path.to_string_lossy().ends_with(ending)).collect();
    scripts.sort();
    scripts
}

/// A script of the corpus.
struct Script {
    name: String,
    expected: Vec<(String, u32)>,
    findings: Vec<Finding>,
}

fn read(path: &Path) -> Script {
    let source = fs::read_to_string(path).unwrap();
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
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
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
    for script in scripts(".leaks.py").iter().map(|path| read(path)) {
        let found: Vec<(String, u32)> =
            script.findings.iter().map(|finding| (finding.rule.to_string(), finding.line)).collect();
        let missed = script.expected.iter().filter(|expected| !found.contains(expected)).count();
        let blocking = script.findings.iter().filter(|finding| finding.severity == Severity::Block);
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
    for path in scripts(".mended.py") {
        let leaking = read(Path::new(&path.to_string_lossy().replace(".mended.py", ".leaks.py")));
        let script = read(&path);
        let mended: Vec<&String> = leaking.expected.iter().map(|(rule, _)| rule).collect();
        let bad = script.findings.iter().any(|finding| {
            finding.severity == Severity::Block || mended.contains(&&finding.rule.to_string())
        });
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
    for script in scripts(".clean.py").iter().map(|path| read(path)) {
        if script.findings.iter().any(|finding| finding.severity == Severity::Block) {
            wrong.push(format!("{}: {}", script.name, shown(&script.findings)));
        }
    }
    assert!(wrong.is_empty(), "{} scripts\n{}", wrong.len(), wrong.join("\n"));
}

/// Each rule has pairs, those that block at least six. A pair is a script with leaks and its mended twin.
#[test]
fn every_rule_has_pairs() {
    let twin = |path: &PathBuf| PathBuf::from(path.to_string_lossy().replace(".mended.py", ".leaks.py"));
    let leaking: Vec<PathBuf> = scripts(".mended.py").iter().map(twin).collect();
    assert!(leaking.len() >= 120, "{}", leaking.len());
    let expected: Vec<String> =
        leaking.iter().flat_map(|path| read(path).expected).map(|(rule, _)| rule).collect();
    for rule in Rule::ALL {
        let pairs = expected.iter().filter(|expected| **expected == rule.id()).count();
        let least = if rule.severity() == Severity::Block { 6 } else { 2 };
        assert!(pairs >= least, "{rule}: {pairs}");
    }
}

/// The names of rules are those of their JSON.
#[test]
fn rules_have_names() {
    for rule in Rule::ALL {
        assert_eq!(serde_json::to_value(rule).unwrap(), rule.id());
        assert!(rule.description().ends_with('.') && rule.instead().ends_with('.'));
    }
}
