//! Bounds answers, because the context of an agent is small.

use std::collections::BTreeMap;

use mle_star_report::cut::cut;
use mle_star_report::sanitize::escape;
use serde_json::Value;

/// The most elements of a list: the last ones, which are the newest.
const MAX_ITEMS: usize = 100;
/// The most characters of a text: a script without its middle is of little use.
const MAX_TEXT_CHARS: usize = 24_000;
/// The most characters of an answer. Longer ones get shorter lists and texts.
const MAX_BYTES: usize = 40_000;

/// Shortens lists and texts in place; what is left out is counted in `left_out`, by the path of each list.
pub fn shorten(answer: &mut Value) {
    let (mut most, mut longest, mut left_out) = (MAX_ITEMS, MAX_TEXT_CHARS, BTreeMap::new());
    loop {
        cut_down(answer, "", most, longest, &mut left_out);
        if answer.to_string().len() <= MAX_BYTES || most == 0 {
            break;
        }
        (most, longest) = (most / 2, longest / 2);
    }
    if let Some(answer) = answer.as_object_mut().filter(|_| !left_out.is_empty()) {
        answer.insert("left_out".to_owned(), serde_json::to_value(left_out).unwrap_or_default());
    }
}

fn cut_down(
    value: &mut Value,
    path: &str,
    most: usize,
    longest: usize,
    left_out: &mut BTreeMap<String, usize>,
) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::String(text) => *text = escape(&cut(text, longest)),
        Value::Array(items) => {
            let more = items.len().saturating_sub(most);
            items.drain(..more);
            if more > 0 {
                *left_out.entry(path.to_owned()).or_default() += more;
            }
            for (at, item) in items.iter_mut().enumerate() {
                cut_down(item, &below(&at.to_string()), most, longest, left_out);
            }
        }
        Value::Object(fields) => {
            fields
                .iter_mut()
                .for_each(|(name, value)| cut_down(value, &below(name), most, longest, left_out));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_stay_and_the_rest_is_counted() {
        let mut answer = json!({"steps": (0..=MAX_ITEMS).collect::<Vec<_>>(), "of": {"news": ["a"]}});
        shorten(&mut answer);
        let last = (1..=MAX_ITEMS).collect::<Vec<_>>();
        assert_eq!(answer, json!({"steps": last, "of": {"news": ["a"]}, "left_out": {"steps": 1}}));
        let mut answer = json!({"scripts": vec!["x\n".repeat(10_000); 30]});
        shorten(&mut answer);
        assert!(answer.to_string().len() <= MAX_BYTES && answer["left_out"]["scripts"].as_u64() < Some(30));
    }
}
