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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latitudes_belong_to_longitudes_of_the_same_name() {
        let check = |names: &[&str], expected: &[(&str, &str)]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let found = places(&names);
            let found: Vec<(&str, &str)> =
                found.iter().map(|place| (place.latitude.as_str(), place.longitude.as_str())).collect();
            assert_eq!(found, expected);
        };
        check(
            &["pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude"],
            &[("pickup_latitude", "pickup_longitude"), ("dropoff_latitude", "dropoff_longitude")],
        );
        check(&["lat", "long"], &[("lat", "long")]);
        check(&["startLat", "startLng"], &[("startLat", "startLng")]);
        check(&["lat1", "lon1", "lat2", "lon2"], &[("lat1", "lon1"), ("lat2", "lon2")]);
        check(&["latitude", "dropoff_longitude", "plate", "longer"], &[]);
    }
}
