//! The filters by which templates format values. Each filter is one function of this crate, so that a number looks the same in
//! the terminal and on the page.

use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error};
use mle_star_domain::search::is_link;

use crate::chart::strips;
use crate::cut::{OUTPUT, PROSE, cut, line_of, sentence};
use crate::figures::{
    brief, count, duration, grouped, interval, measured, number, rounded, shown_time, signed,
};
use crate::markup::escaped_code;
use crate::money;
use crate::sanitize::first_line;
use crate::views::importance::worse;
use crate::views::steps::node_id;
use crate::words::place_name;

/// The longest address that becomes a link, in bytes.
const MAX_LINK_CHARS: usize = 300;

/// Adds the filters and tests. Those of figures print nothing where a figure is unknown.
pub fn add(environment: &mut Environment<'_>) {
    environment.add_filter("number", |score: Option<f64>| score.map(number));
    environment.add_filter("measured", |score: Option<f64>, bounds: Serde<Option<[f64; 2]>>| {
        score.map(|score| measured(score, bounds.0))
    });
    environment.add_filter("worse", worse);
    environment.add_filter("signed", |gain: Option<f64>| gain.map(signed));
    environment.add_filter("interval", |bounds: Serde<Option<[f64; 2]>>| bounds.0.map(interval));
    environment.add_filter("rounded", rounded);
    environment.add_filter("fixed", |value: f64, decimals: usize| format!("{value:.decimals$}"));
    environment.add_filter("percent", |share: f64| format!("{:.0} %", 100.0 * share));
    environment.add_filter("grouped", |count: Option<u64>| count.map(grouped));
    environment.add_filter("duration", |seconds: Option<f64>| seconds.map(duration));
    environment.add_filter("brief", brief);
    environment.add_filter("times", times);
    environment.add_filter("bars", |values: Serde<Vec<Option<f64>>>| {
        let values = values.0.into_iter().map(|value| (value.unwrap_or_default(), None));
        Serde(strips(&values.collect::<Vec<_>>()))
    });
    environment.add_filter("time", |rfc_3339: &str| shown_time(rfc_3339));
    environment.add_filter("tokens", money::tokens);
    environment.add_filter("money", |usd: Option<f64>| money::cost(usd, 0.0));
    environment.add_filter("minus", |figure: &str| {
        format!(" {figure}").replace(" -", " −").replace("[-", "[−")[1..].to_owned()
    });
    environment.add_filter("place", |place: &str| place_name(&place.into()));
    environment.add_filter("node", |place: &str| node_id(&place.into()));
    environment.add_filter("sentence", |fragment: &str| sentence(fragment));
    environment.add_filter("without_stop", |text: &str| text.trim_end_matches('.').to_owned());
    environment.add_filter("quoted", |text: &str| text.replace('`', "\""));
    environment.add_filter("line", |text: &str| line_of(text));
    environment.add_filter("short", |text: &str, most: usize| first_line(text, most));
    environment.add_filter("prose", |text: &str| cut(text, PROSE));
    environment.add_filter("output", |text: &str| cut(text, OUTPUT));
    environment.add_filter("code", |text: &str| Value::from_safe_string(escaped_code(text)));
    environment.add_filter("numbered", |code: &str| Value::from_safe_string(numbered(code)));
    environment.add_filter("counted", |number: u64, noun: &str| count(number, noun));
    environment.add_filter("left", |text: &str, width: usize| format!("{text:<width$}"));
    environment.add_filter("right", |text: &str, width: usize| format!("{text:>width$}"));
    environment.add_test("link", |text: &str| -> Result<bool, Error> {
        Ok(text.len() <= MAX_LINK_CHARS && is_link(text))
    });
}

/// `once`, `twice`, `3 times`.
fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// Code as markup: every line in a `span`, which the style sheet numbers.
fn numbered(code: &str) -> String {
    let lines: Vec<String> =
        code.split('\n').map(|line| format!("<span>{}</span>", escaped_code(line))).collect();
    lines.join("\n")
}
