//! Damaged scripts: nothing panics, and nothing takes long.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use mle_star_leakage::{Facts, Unreadable, check};
use proptest::prelude::{ProptestConfig, any, prop};
use proptest::proptest;

use crate::scripts::scripts;

/// All scripts.
static SOURCES: LazyLock<Vec<String>> = LazyLock::new(|| {
    ["leaks", "mended", "clean"].into_iter().flat_map(scripts).map(|(_, source)| source).collect()
});

/// One change of a script.
type Change = (u8, usize, usize);

fn changed(source: &str, changes: &[Change]) -> String {
    let mut text: Vec<char> = source.chars().collect();
    for (kind, one, other) in changes {
        if kind % 2 == 0 {
            text = with_lines_changed(&text, *kind, *one, *other);
        } else {
            change_characters(&mut text, *kind, *one, *other);
        }
    }
    text.into_iter().collect()
}

fn with_lines_changed(text: &[char], kind: u8, one: usize, other: usize) -> Vec<char> {
    let mut lines: Vec<&[char]> = text.split_inclusive(|letter| *letter == '\n').collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let (one, other) = (one % lines.len(), other % lines.len());
    match kind % 8 {
        0 => drop(lines.remove(one)),
        2 => lines.insert(other, lines[one]),
        4 => lines.swap(one, other),
        _ => lines.truncate(one),
    }
    lines.concat()
}

fn change_characters(text: &mut Vec<char>, kind: u8, one: usize, other: usize) {
    if text.is_empty() {
        return;
    }
    let (one, other) = (one % text.len(), other % text.len());
    match kind % 8 {
        1 => drop(text.remove(one)),
        3 => text.swap(one, other),
        5 => text.insert(one, text[other]),
        _ => text[one] = ['(', ')', '[', '\'', '"', ':', '=', '\\', 'é', '{'][other % 10],
    }
}

fn cases() -> u32 {
    std::env::var("MLE_STAR_FUZZ_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_scripts_are_checked(
        script in any::<prop::sample::Index>(),
        mut changes in prop::collection::vec(any::<Change>(), 1..12),
        only_lines in any::<bool>(),
    ) {
        if only_lines {
            // These are more often still Python.
            changes.iter_mut().for_each(|change| change.0 &= !1);
        }
        let source = changed(&SOURCES[script.index(SOURCES.len())], &changes);
        let begun = Instant::now();
        let checked = check(&source, &Facts::default());
        assert!(checked != Err(Unreadable::Defect), "{source}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{source}");
    }
}

/// Loops in loops in functions that call each other: the budget ends it.
#[test]
fn work_is_limited() {
    let mut source = String::from("import numpy as np\nx = []\n");
    for depth in 0..12 {
        source.push_str(&format!("{}for i{depth} in y:\n", "    ".repeat(depth)));
    }
    source.push_str(&format!("{}x.append(np.mean(x) + 1)\n", "    ".repeat(12)));
    for number in 1..200 {
        let callee = number - 1;
        source
            .push_str(&format!("def f{number}(a):\n    return f{callee}(a) + f{callee}(a) + f{callee}(a)\n"));
    }
    source.push_str("f199(x)\n");
    let begun = Instant::now();
    check(&source, &Facts::default()).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(60));
}
