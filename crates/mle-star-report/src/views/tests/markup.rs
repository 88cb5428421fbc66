//! Checks of a page's markup without a browser.

use std::collections::BTreeSet;

/// Checks the order of headings, unique IDs, the targets of links and labels, and that nothing violates a strict
/// content policy.
pub fn check(page: &str) {
    let tags: Vec<&str> = page.split('<').skip(1).filter_map(|rest| rest.split('>').next()).collect();
    headings_are_in_order(&tags);
    let ids: Vec<&str> = tags.iter().filter_map(|tag| attribute(tag, "id")).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(known.len(), ids.len(), "ids are unique");
    for tag in &tags {
        let names = attribute(tag, "aria-labelledby").unwrap_or_default();
        let link = attribute(tag, "href").and_then(|link| link.strip_prefix('#'));
        for id in names.split(' ').filter(|name| !name.is_empty()).chain(link) {
            assert!(known.contains(id), "{id} of <{tag}> is nowhere");
        }
        let name = tag.split(' ').next().unwrap_or_default();
        assert!(!["img", "iframe", "link", "object", "embed", "form", "base"].contains(&name), "<{tag}>");
        assert!(name != "th" || attribute(tag, "scope").is_some(), "<{tag}> has no scope");
        for forbidden in ["style", "onclick", "onerror", "onload"] {
            assert_eq!(attribute(tag, forbidden), None, "<{tag}>");
        }
    }
    assert_eq!(tags.iter().filter(|tag| tag.starts_with("script")).count(), 1, "one script, its own");
    let tables = tags.iter().filter(|tag| tag.starts_with("table")).count();
    assert_eq!(
        tags.iter().filter(|tag| tag.starts_with("caption")).count(),
        tables,
        "every table has a caption"
    );
    every_tag_is_closed(&tags);
}

fn headings_are_in_order(tags: &[&str]) {
    let levels = tags.iter().filter_map(|tag| {
        let level = tag.strip_prefix('h')?.chars().next()?.to_digit(10)?;
        (1..=6).contains(&level).then_some(level)
    });
    let mut before = 0;
    for level in levels {
        assert!(level <= before + 1, "h{level} after h{before}");
        before = level;
    }
    assert!(before > 0, "there are headings");
}

fn every_tag_is_closed(tags: &[&str]) {
    const VOID: [&str; 3] = ["meta", "br", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    for tag in tags {
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "</{name}>");
        } else if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

/// An attribute's value.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split('"').next()
}
