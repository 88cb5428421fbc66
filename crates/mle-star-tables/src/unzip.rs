//! Unpacks zipped and gzipped tables: scripts read `train.csv`, but Kaggle provides `train.csv.zip`.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use mle_star_domain::trouble::Trouble;

use super::folder::{self, Source};
use super::walk;

/// A table that must be unpacked before scripts can read it. Paths are relative to the data folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed {
    /// The packed file.
    pub archive: PathBuf,
    /// The plain file as scripts expect it.
    pub file: PathBuf,
    source: Source,
}

/// The packed tables of a data folder; empty if every table is a plain file.
///
/// # Errors
/// As [`profile::read`](super::profile::read) for the folder itself.
pub fn packed(data_dir: &Path) -> Result<Vec<Packed>, Trouble> {
    let listing = folder::list(data_dir)?;
    let packed = listing.tables().filter(|source| source.is_packed());
    Ok(packed
        .map(|source| Packed {
            archive: source.on_disk.clone(),
            file: source.file.clone(),
            source: source.clone(),
        })
        .collect())
}

/// Makes `into` a data folder for scripts: unpacked tables as files, everything else as links into `data_dir`.
/// Replaces files of an earlier attempt.
///
/// # Errors
/// The archive cannot be read or the files cannot be written. The message names the file.
pub fn unpack(data_dir: &Path, packed: &[Packed], into: &Path) -> Result<(), Trouble> {
    let trouble = |file: &Path, error: io::Error| {
        let hint = "check the archive, or unpack it by hand; check that the disk is not full";
        Trouble::new(format!("cannot unpack {}: {error}", file.display()), hint)
    };
    let cleared = if into.exists() { fs::remove_dir_all(into) } else { Ok(()) };
    cleared.and_then(|()| fs::create_dir_all(into)).map_err(|error| trouble(into, error))?;
    link_others(data_dir, packed, into).map_err(|error| trouble(data_dir, error))?;
    for table in packed {
        extract(data_dir, &table.source, into).map_err(|error| trouble(&table.archive, error))?;
    }
    Ok(())
}

fn link_others(data_dir: &Path, packed: &[Packed], into: &Path) -> io::Result<()> {
    walk::link(data_dir, into, |name| packed.iter().any(|table| table.archive == name)).map(drop)
}

/// Unpacks under a temporary name first, so that an interruption leaves no incomplete table.
pub(super) fn extract(data_dir: &Path, source: &Source, into: &Path) -> io::Result<()> {
    let partial = into.join(format!(".{}.part", source.file.display()));
    let mut plain = File::create(&partial)?;
    source.with_text(data_dir, |text| io::copy(text, &mut plain))??;
    fs::rename(partial, into.join(&source.file))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;
    use crate::profile;

    fn zip_of(path: &Path, members: &[(&str, &str)]) {
        let mut archive = ZipWriter::new(File::create(path).unwrap());
        for (name, text) in members {
            archive.start_file(*name, SimpleFileOptions::default()).unwrap();
            archive.write_all(text.as_bytes()).unwrap();
        }
        archive.finish().unwrap();
    }

    #[test]
    fn zipped_tables_are_read_in_place_and_unpacked_for_scripts() {
        let data = tempfile::tempdir().unwrap();
        let text = "id,y\n1,0\n2,1\n";
        zip_of(&data.path().join("train.csv.zip"), &[("__MACOSX/._train.csv", "x"), ("train.csv", text)]);
        zip_of(&data.path().join("sampleSubmission.zip"), &[("deep/sampleSubmission.csv", "id,y\n3,0\n")]);
        zip_of(&data.path().join("images.zip"), &[("a.jpg", "x")]);
        fs::write(data.path().join("test.csv"), "id\n3\n").unwrap();

        let profile = profile::read(data.path()).unwrap();
        assert_eq!((profile.train.file.as_path(), profile.train.rows), (Path::new("train.csv"), 2));
        assert_eq!(profile.sample.unwrap().file, Path::new("sampleSubmission.csv"));
        assert_eq!(profile.other_files, [Path::new("images.zip")]);

        // The runs directory may be inside the data folder.
        fs::create_dir_all(data.path().join("runs/r")).unwrap();
        fs::write(data.path().join("runs/r/journal.lock"), "").unwrap();
        let into = data.path().join("runs/r/data");
        let packed = packed(data.path()).unwrap();
        for _ in 0..2 {
            unpack(data.path(), &packed, &into).unwrap();
        }
        let mut names: Vec<String> =
            fs::read_dir(&into).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["images.zip", "sampleSubmission.csv", "test.csv", "train.csv"]);
        assert_eq!(fs::read_to_string(into.join("train.csv")).unwrap(), text);
        assert_eq!(fs::read_to_string(into.join("test.csv")).unwrap(), "id\n3\n");
    }
    #[test]
    fn gzipped_tables_are_read_in_place_and_unpacked_for_scripts() {
        let data = tempfile::tempdir().unwrap();
        let gzip = |text: &str| {
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(text.as_bytes()).unwrap();
            packed.finish().unwrap()
        };
        let write = |name: &str, bytes: &[u8]| fs::write(data.path().join(name), bytes).unwrap();
        // `cat a.gz b.gz` is a gzip file too.
        write("train.csv.gz", &[gzip("id,y\n1,0\n"), gzip("2,1\n")].concat());
        write("Test.CSV.gz", &gzip("id\n3\n"));
        write("other.csv.gz", b"not gzip");
        write("notes.txt.gz", &gzip("words"));

        let profile = profile::read(data.path()).unwrap();
        assert_eq!((profile.train.file.as_path(), profile.train.rows), (Path::new("train.csv"), 2));
        assert_eq!(profile.test.unwrap().file, Path::new("Test.CSV"));
        assert_eq!(profile.other_files, ["notes.txt.gz", "other.csv.gz"].map(PathBuf::from));

        let into = tempfile::tempdir().unwrap();
        unpack(data.path(), &packed(data.path()).unwrap(), into.path()).unwrap();
        assert_eq!(fs::read_to_string(into.path().join("train.csv")).unwrap(), "id,y\n1,0\n2,1\n");
        assert_eq!(fs::read_to_string(into.path().join("Test.CSV")).unwrap(), "id\n3\n");
    }
}
