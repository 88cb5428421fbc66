//! The folder `final/`, whose files change all at once.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;

use mle_star_domain::layout;
use rustix::fs::{CWD, RenameFlags};

use crate::prepare::intake::MadeData;
use crate::runs::inputs::{copy_atomically, remove};

/// Writes the submission of a script, atomically, as the user of the run gets it.
///
/// # Errors
/// A file cannot be read or written.
pub fn write_submission(run: &Path, from: &Path, to: &Path) -> io::Result<()> {
    let form = MadeData::of_run(run).and_then(|made| made.submission);
    let Some(form) = form else { return copy_atomically(from, to) };
    let partial = to.with_extension("part");
    let written = form.convert(from, &partial).and_then(|()| fs::rename(&partial, to));
    written.inspect_err(|_| drop(fs::remove_file(&partial)))
}

/// Lets `python final/solution.py` find the data from the run folder. The link of a run that was moved is made again.
pub fn link_data(link: &Path, data_dir: &Path) -> io::Result<()> {
    let data = data_dir.canonicalize()?;
    match fs::read_link(link) {
        Ok(target) if target != data && !link.exists() => fs::remove_file(link)?,
        // Somebody put a folder there, or a link of his own.
        _ if link.symlink_metadata().is_ok() => return Ok(()),
        _ => {}
    }
    symlink(data, link)
}

/// Puts the folds that the program wrote beside the data into an answer, for a script that runs elsewhere.
///
/// # Errors
/// The file cannot be read or written.
pub fn keep_folds(data_dir: &Path, into: &Path) -> io::Result<()> {
    let (folds, kept) = (data_dir.join(layout::FOLDS), into.join(layout::FOLDS));
    if !data_dir.ends_with(layout::ALL_ROWS) || !folds.exists() {
        return Ok(());
    }
    fs::copy(folds, kept).map(drop)
}

/// The files of an answer, `provisional.json` last.
const FILES: [&str; 8] = [
    layout::SOLUTION,
    layout::REQUIREMENTS,
    layout::FOLDS,
    layout::SUBMISSION,
    layout::MODEL,
    layout::MODEL_RECORD,
    layout::PREDICT,
    layout::PROVISIONAL,
];

/// Replaces the files of `final/` by those that `fill` writes into the folder it is given. Nothing changes before all of
/// them are written; then both folders change places, so that a kill never leaves files of two answers side by side.
pub fn replace(last: &Path, fill: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let next = last.with_extension("next");
    fs::create_dir_all(last)?;
    fs::create_dir_all(&next)?;
    // Left by an earlier process.
    move_others(&next, last)?;
    fs::remove_dir_all(&next)?;
    fs::create_dir(&next)?;
    fill(&next)?;
    if last.is_symlink() || rustix::fs::renameat_with(CWD, &next, CWD, last, RenameFlags::EXCHANGE).is_err() {
        // Some network file systems cannot exchange.
        move_one_by_one(&next, last)?;
    }
    move_others(&next, last)?;
    fs::remove_dir_all(next)
}

/// Moves the files of an answer, without `provisional.json` beside them until the last.
fn move_one_by_one(next: &Path, last: &Path) -> io::Result<()> {
    remove(&last.join(layout::PROVISIONAL))?;
    for name in FILES {
        if last.join(name).is_dir() {
            fs::remove_dir_all(last.join(name))?;
        }
        match fs::rename(next.join(name), last.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => remove(&last.join(name))?,
            renamed => renamed?,
        }
    }
    Ok(())
}

/// Moves what is no part of an answer, such as files of the user.
fn move_others(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        if FILES.iter().all(|known| name != *known) && !to.join(&name).exists() {
            fs::rename(from.join(&name), to.join(&name))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_to_the_data_of_a_run_that_was_moved_is_made_again() {
        let run = tempfile::tempdir().unwrap();
        let (link, data) = (run.path().join("input"), run.path().join("data"));
        fs::create_dir(&data).unwrap();
        symlink(run.path().join("before"), &link).unwrap();
        for _ in 0..2 {
            link_data(&link, &data).unwrap();
            assert_eq!(fs::read_link(&link).unwrap(), data.canonicalize().unwrap());
        }
        fs::remove_file(&link).unwrap();
        fs::create_dir(&link).unwrap();
        link_data(&link, &data).unwrap();
        assert!(link.is_dir() && !link.is_symlink(), "somebody's folder stays");
    }
}
