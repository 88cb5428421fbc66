//! Finds columns of coordinates, latitude with longitude, by their names.

const LATITUDE: [&str; 2] = ["latitude", "lat"];
const LONGITUDE: [&str; 4] = ["longitude", "long", "lng", "lon"];

/// A place on the earth: the names of its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The degrees to the north.
    pub latitude: String,
    /// The degrees to the east.
    pub longitude: String,
}

/// The places among columns of numbers, by their names: `pickup_latitude` belongs to `pickup_longitude`.
pub fn places<'a>(columns: impl IntoIterator<Item = &'a String>) -> Vec<Place> {
    let columns: Vec<&String> = columns.into_iter().collect();
    let place = |latitude: &&String| {
        let stem = stem(latitude, &LATITUDE)?;
        let longitude = columns.iter().find(|name| self::stem(name, &LONGITUDE).as_ref() == Some(&stem))?;
        Some(Place { latitude: (*latitude).clone(), longitude: (*longitude).clone() })
    };
    columns.iter().filter_map(place).collect()
}

/// The name without the word among these that it has.
fn stem(name: &str, wanted: &[&str]) -> Option<String> {
    let found = words(name).into_iter().find(|word| wanted.contains(&word.as_str()))?;
    Some(name.to_lowercase().replacen(&found, "", 1))
}

/// The words of a name in lower case, split at punctuation, digits and capitals.
fn words(name: &str) -> Vec<String> {
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
