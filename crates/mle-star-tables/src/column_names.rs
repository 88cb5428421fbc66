//! What the names of columns say.

/// Words that mean the number of a row.
const ROW_WORDS: [&str; 2] = ["index", "row"];

/// Words in column names that identify the subject of a row.
const KEY_WORDS: [&str; 48] = [
    "author",
    "batch",
    "case",
    "client",
    "cluster",
    "code",
    "customer",
    "device",
    "document",
    "driver",
    "engine",
    "family",
    "farm",
    "field",
    "group",
    "hospital",
    "house",
    "household",
    "id",
    "ids",
    "individual",
    "key",
    "machine",
    "member",
    "participant",
    "patient",
    "person",
    "place",
    "plant",
    "player",
    "plot",
    "scene",
    "school",
    "sensor",
    "session",
    "shop",
    "site",
    "speaker",
    "station",
    "store",
    "student",
    "subject",
    "team",
    "unit",
    "user",
    "vehicle",
    "video",
    "well",
];

/// Further words in column names of numbers that only name something.
const CODE_WORDS: [&str; 24] = [
    "agent",
    "article",
    "book",
    "branch",
    "brand",
    "campaign",
    "category",
    "department",
    "dept",
    "district",
    "film",
    "item",
    "merchant",
    "movie",
    "postal",
    "postcode",
    "product",
    "region",
    "resource",
    "route",
    "seller",
    "sku",
    "zip",
    "zone",
];

/// Words in column names that mean time.
const TIME_WORDS: [&str; 31] = [
    "created",
    "date",
    "datetime",
    "day",
    "epoch",
    "fiscal",
    "fy",
    "hour",
    "minute",
    "month",
    "period",
    "quarter",
    "season",
    "second",
    "step",
    "time",
    "timestamp",
    "ts",
    "unix",
    "utc",
    "week",
    "when",
    "year",
    "yearmon",
    "yearmonth",
    "yearweek",
    "ym",
    "yw",
    "yyyymm",
    "yyyymmdd",
    "yyyyww",
];

/// Words in column names that mean a running number.
const COUNTER_WORDS: [&str; 8] = ["account", "invoice", "no", "nr", "number", "order", "phone", "ticket"];

/// Whether the name means a running number.
pub(crate) fn says_counter(name: &str) -> bool {
    has_word(name, &COUNTER_WORDS)
}

/// Whether the name identifies the subject of a row.
pub(crate) fn says_key(name: &str) -> bool {
    has_word(name, &KEY_WORDS)
}

/// Whether numbers with this name are codes, so that their order may mean nothing.
pub fn says_code(name: &str) -> bool {
    says_key(name) || has_word(name, &CODE_WORDS)
}

/// Whether the name means time.
pub(crate) fn says_time(name: &str) -> bool {
    has_word(name, &TIME_WORDS) || name.eq_ignore_ascii_case("t")
}

/// Whether the name means the number of a row.
pub(crate) fn says_row(name: &str) -> bool {
    has_word(name, &ROW_WORDS)
}

/// Whether a name says that values are another column's in a role of their own: `home_team`, `team_2` and `team_b` are teams.
pub(crate) fn says_role(name: &str, of: &str) -> bool {
    // Fewer letters end many names.
    const SHORTEST: usize = 4;
    let mut words = words(name);
    let ends_so = of.chars().count() >= SHORTEST && words.concat().ends_with(of);
    if words.last().is_some_and(|last| last.chars().count() == 1) {
        words.pop();
    }
    ends_so || (0..words.len()).any(|first| words[first..].concat() == of)
}

/// Whether the name contains one of these words. `patient_id`, `PatientID`, `patientid` and `patients` contain
/// `patient`.
fn has_word(name: &str, wanted: &[&str]) -> bool {
    let is_wanted = |word: &str| wanted.contains(&word);
    words(name).iter().any(|word| {
        is_wanted(word)
            || word.strip_suffix('s').is_some_and(is_wanted)
            || word.strip_suffix("id").is_some_and(is_wanted)
    })
}

/// The letters of a name without `id` as its last word; `None` if it has no such word, or no other.
pub(crate) fn without_id(name: &str) -> Option<String> {
    let words = words(name);
    let (last, begin) = words.split_last()?;
    (last == "id" && !begin.is_empty()).then(|| begin.concat())
}

/// The words of a name in lower case, split at punctuation, digits and capitals.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for letter in name.chars() {
        if !letter.is_alphabetic() || (letter.is_uppercase() && after_lower) {
            words.push(String::new());
        }
        after_lower = letter.is_lowercase();
        if let (true, Some(word)) = (letter.is_alphabetic(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
