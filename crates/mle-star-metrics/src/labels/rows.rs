//! Which rows of a table are the same as those of another: their keys.

use csv::StringRecord;

use crate::table::key;

/// The key of a row with this number, from 0.
pub(super) fn row_key(row: &StringRecord, id: Option<usize>, number: u64) -> Result<u64, String> {
    let id = id.map_or_else(|| number.to_string(), |id| row.get(id).unwrap_or_default().to_owned());
    if id.trim().is_empty() { Err(format!("row {} has no ID", number + 1)) } else { Ok(key(&id)) }
}

/// The keys in order, and where each of them was.
pub(super) fn sorted(keys: &[(u64, u64)]) -> Result<(Vec<u64>, Vec<usize>), String> {
    let mut places: Vec<usize> = (0..keys.len()).collect();
    places.sort_unstable_by_key(|place| keys[*place]);
    if let Some(pair) = places.windows(2).find(|pair| keys[pair[0]].0 == keys[pair[1]].0) {
        let (one, two) = (keys[pair[0]].1 + 1, keys[pair[1]].1 + 1);
        return Err(format!("IDs must be unique, but rows {one} and {two} have the same one"));
    }
    Ok((places.iter().map(|place| keys[*place].0).collect(), places))
}
