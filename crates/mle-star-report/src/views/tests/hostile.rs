//! A run in which all untrusted text is an attack.

use mle_star::testing::worlds::{attack, hostile};

use super::markup;
use super::world::{Made, keep, made};
use crate::html::{self, Extent};

#[tokio::test]
async fn a_hostile_run_is_shown_as_text() {
    let (world, inputs) = hostile(1_000_000);
    let Made { mut view, .. } = made(&world, &inputs).await;
    view.summary.run.run_id = attack();
    let page = html::render(&view, Extent::Full).unwrap();
    keep("hostile", &page);
    markup::check(&page);
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
    for text in [
        "window.attacked = 1",
        "window.attacked = 2",
        "window.attacked = 3",
        "window.attacked = 4",
        "javascript:window.attacked = 5",
        "{{ 7*7 }}",
        "⟨U+202E⟩",
        "⟨U+0000⟩",
    ] {
        assert!(page.contains(text), "{text} is shown");
    }
    for raw in ["<script>window", "<img", "<svg onload", "\u{202e}", "\u{0}", "\u{1b}", "49{%"] {
        assert!(!page.contains(raw), "{raw:?}");
    }
    let outward = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    // Submission, script and notebook are saved and never opened.
    let is_saved = |link: &&str| link.starts_with("data:") && link.contains(";base64,");
    assert_eq!(page.matches("href=\"data:").count(), page.matches("\" download=\"").count());
    let outward: Vec<&str> = outward.filter(|link| !link.starts_with('#') && !is_saved(link)).collect();
    assert!(outward.iter().all(|link| link.starts_with("https://a.org/")), "{outward:?}");
}
