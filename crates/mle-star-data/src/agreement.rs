//! Checks that the test table and the sample submission have the same rows.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use csv::{Reader, StringRecord};
use mle_star_domain::trouble::Trouble;

use super::folder::{self, Source};
use super::profile::Profile;

const HINT: &str = "check that both files belong to the same data set";

/// Checks that test and sample have the same number of rows, and the same IDs if both have an ID column.
///
/// # Errors
/// They differ. The message gives the counts or the first ID that only one of them has.
pub fn check(data_dir: &Path, profile: &Profile, id: Option<&str>) -> Result<(), Trouble> {
    let (Some(test), Some(sample)) = (&profile.test, &profile.sample) else { return Ok(()) };
    let (test_name, sample_name) = (test.file.display(), sample.file.display());
    if test.rows != sample.rows {
        let message = format!(
            "{sample_name} has {} rows and {test_name} has {}: they disagree",
            sample.rows, test.rows
        );
        return Err(Trouble::new(message, HINT));
    }
    let Some(id) = id.filter(|id| test.column(id).is_some() && sample.column(id).is_some()) else {
        return Ok(());
    };
    let listing = folder::list(data_dir)?;
    let in_test = ids(data_dir, listing.test.as_ref(), id)?;
    let in_sample = ids(data_dir, listing.sample.as_ref(), id)?;
    if let Some(only) = in_sample.difference(&in_test).min() {
        let message = format!("{sample_name} and {test_name} disagree: {id} {only} is only in {sample_name}");
        return Err(Trouble::new(message, HINT));
    }
    if let Some(only) = in_test.difference(&in_sample).min() {
        let message = format!("{sample_name} and {test_name} disagree: {id} {only} is only in {test_name}");
        return Err(Trouble::new(message, HINT));
    }
    Ok(())
}

fn ids(data_dir: &Path, source: Option<&Source>, id: &str) -> Result<HashSet<String>, Trouble> {
    let Some(source) = source else { return Ok(HashSet::new()) };
    let read = source.with_text(data_dir, |text| column(text, id));
    let failed =
        |error: String| Trouble::new(format!("cannot read {}: {error}", source.on_disk.display()), HINT);
    read.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(error.to_string()))
}

fn column(text: &mut dyn Read, name: &str) -> Result<HashSet<String>, csv::Error> {
    let mut reader = Reader::from_reader(text);
    let position = reader.headers()?.iter().position(|header| header == name);
    let mut values = HashSet::new();
    let mut record = StringRecord::new();
    while reader.read_record(&mut record)? {
        values
            .extend(position.and_then(|position| record.get(position)).map(|value| value.trim().to_owned()));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::profile;

    #[test]
    fn disagreements_are_named() {
        let verdict = |test: &str, sample: &str| {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join("train.csv"), "id,y\n1,1\n").unwrap();
            fs::write(dir.path().join("test.csv"), test).unwrap();
            fs::write(dir.path().join("sample_submission.csv"), sample).unwrap();
            let profile = profile::read(dir.path()).unwrap();
            check(dir.path(), &profile, Some("id")).map_err(|trouble| trouble.message)
        };
        assert_eq!(verdict("id\n1\n2\n", "id,y\n2,0\n1,0\n"), Ok(()));
        assert!(verdict("id\n1\n2\n", "id,y\n1,0\n").unwrap_err().contains("1 rows"));
        assert!(verdict("id\n1\n2\n", "id,y\n1,0\n3,0\n").unwrap_err().contains("id 3 is only in sample"));
        assert!(verdict("id\n1\n2\n", "id,y\n1,0\n1,0\n").unwrap_err().contains("id 2 is only in test"));
    }
}
