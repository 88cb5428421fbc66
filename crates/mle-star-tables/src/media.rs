//! Images and sounds among the files of a data folder, also those in zip archives.

use serde::Deserialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::archives;

/// The endings of images.
pub(crate) const IMAGES: [&str; 9] = ["jpg", "jpeg", "png", "tif", "tiff", "bmp", "gif", "dcm", "webp"];
/// The endings of sounds.
pub(crate) const SOUNDS: [&str; 8] = ["wav", "mp3", "ogg", "flac", "m4a", "aif", "aiff", "aifc"];

/// How many images and sounds a data folder holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Media {
    /// Images.
    pub images: usize,
    /// Sound files.
    pub sounds: usize,
    /// Sound files for which there is an image with the same name, such as a spectrogram.
    pub pictured: usize,
}

/// Counts the images and sounds among these files, relative to the data folder. Archives that cannot be read count as
/// empty.
pub fn media(data_dir: &Path, files: &[PathBuf]) -> Media {
    let mut found = MediaNames::default();
    for file in files {
        if archives::is_archive(file) {
            let members = archives::members(&data_dir.join(file)).unwrap_or_default();
            members.iter().for_each(|member| found.take(member));
        } else {
            found.take(file);
        }
    }
    let is_pictured = |name: &&String| found.names_of_images.contains(*name);
    let pictured = found.names_of_sounds.iter().filter(is_pictured).count();
    Media { images: found.images, sounds: found.names_of_sounds.len(), pictured }
}

/// The lower-case ending of a file's name, without its dot.
pub(crate) fn ending(path: &Path) -> String {
    path.extension().map(|ending| ending.to_string_lossy().to_lowercase()).unwrap_or_default()
}

#[derive(Default)]
struct MediaNames {
    images: usize,
    names_of_sounds: Vec<String>,
    names_of_images: HashSet<String>,
}

impl MediaNames {
    fn take(&mut self, path: &Path) {
        let ending = ending(path);
        let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        if IMAGES.contains(&ending.as_str()) {
            self.images += 1;
            self.names_of_images.insert(stem());
        } else if SOUNDS.contains(&ending.as_str()) {
            self.names_of_sounds.push(stem());
        }
    }
}
