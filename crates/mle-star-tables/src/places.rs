//! Columns of coordinates.

use crate::column_names::words;

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
