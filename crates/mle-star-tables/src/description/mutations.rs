//! No text makes the reading fail.

use super::*;

/// The texts of other tests.
const TESTS: [&str; 4] = [
    include_str!("metric/tests.rs"),
    include_str!("positive.rs"),
    include_str!("direction.rs"),
    include_str!("target.rs"),
];
const LABELS: [[&str; 2]; 14] = [
    ["<=50K", ">50K"],
    ["- 50000.", "50000+."],
    ["+", "-"],
    ["", " "],
    ["a_b", "a-b"],
    ["defaulted", "defaults"],
    ["no", "yes"],
    ["é", "ß"],
    ["İ", "i"],
    ["好", "坏"],
    ["😀", "😞"],
    ["1", "0"],
    ["F_1", "F1"],
    ["Charged Off", "Fully Paid"],
];
const ODD: &str = "<>=$`*#|()\n\n.,:;'\"@%^_-–—²éİß好😀05K";
const ROUNDS: usize = 600;

/// A linear congruential generator.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit.max(1)
    }

    /// A part of a text.
    fn part(&mut self, text: &str) -> String {
        let letters: Vec<char> = text.chars().collect();
        let start = self.below(letters.len());
        let end = start + self.below(letters.len() - start + 1);
        letters[start..end].iter().collect()
    }

    /// Parts of texts, joined, doubled, with odd letters between them.
    fn text(&mut self, texts: &[&str]) -> String {
        let odd: Vec<char> = ODD.chars().collect();
        (0..1 + self.below(5)).fold(String::new(), |mut text, _| {
            let whole = texts[self.below(texts.len())];
            let part = if self.below(3) == 0 { whole.to_owned() } else { self.part(whole) };
            text.push_str(&part.repeat(1 + self.below(2)));
            text.push(odd[self.below(odd.len())]);
            text
        })
    }
}

fn read_all(text: &str, labels: [&str; 2]) {
    let description = Description::read(text);
    let _ = (metric(&description, false), metric(&description, true));
    let _ = (positive(&description, labels), positive(&description, [labels[1], labels[0]]));
    let _ = direction(&description, "word error rate");
    let _ = target(&description, &[labels[0], labels[1], "price"]);
    let _ = (named_in(text, labels), named_in(labels[0], labels));
}

#[test]
fn mutated_descriptions_are_read_without_a_panic() {
    let texts: Vec<&str> =
        TESTS.iter().flat_map(|source| source.split('"')).filter(|text| text.len() > 20).collect();
    assert!(texts.len() > 200);
    let mut random = Random(42);
    for round in 0..ROUNDS {
        let text = random.text(&texts);
        read_all(&text, LABELS[round % LABELS.len()]);
    }
    for labels in LABELS {
        read_all("Predict the probability that a person makes more than 50K a year.", labels);
        read_all("", labels);
    }
}
