//! `logs/mle-star.log`: every event with time and level.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use mle_star::event::Line;
use mle_star_report::event_line::{self, Weight};
use mle_star_report::progress::StepSummary;
use mle_star_report::words::Models;

use super::Watch;
use super::json::open;

/// The log files of a run.
pub struct Log<'a> {
    files: Mutex<Vec<File>>,
    models: Mutex<Models>,
    console: Option<&'a (dyn Fn(&str) + Sync)>,
    level: Level,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warn,
    Info,
    Debug,
}

impl<'a> Log<'a> {
    /// Opens every file for appending; `level` is the configuration's `log_level`. The run continues without files
    /// that cannot be opened; returns these with the reasons.
    pub fn open(paths: &[&Path], level: &str) -> (Self, Vec<String>) {
        let (mut files, mut notes) = (Vec::new(), Vec::new());
        for path in paths {
            match open(path) {
                Ok(file) => files.push(file),
                Err(error) => notes.push(format!("note: no log in {}: {error}", path.display())),
            }
        }
        let (files, models, level) = (Mutex::new(files), Mutex::default(), Level::of(level));
        (Self { files, models, console: None, level }, notes)
    }

    /// Prints the same lines on the console.
    #[must_use]
    pub fn on_console(self, console: &'a (dyn Fn(&str) + Sync)) -> Self {
        Self { console: Some(console), ..self }
    }

    /// Logs a line at level `DEBUG`.
    pub fn debug(&self, text: &str) {
        self.write(Level::Debug, text);
    }

    /// Logs the error that ended the run.
    pub fn error(&self, text: &str) {
        self.write(Level::Error, text);
    }

    fn write(&self, level: Level, text: &str) {
        if level > self.level {
            return;
        }
        let now = jiff::Timestamp::now();
        let line = format!("{now:.3} {:<5} mle_star: {}\n", level.name(), text.trim());
        for file in self.files.lock().unwrap_or_else(PoisonError::into_inner).iter_mut() {
            // A log that cannot be written, as on a full disk, must not end the run.
            let _ = file.write_all(line.as_bytes());
        }
        if let Some(console) = self.console {
            line.lines().for_each(console);
        }
    }
}

impl Watch for Log<'_> {
    fn see(&self, line: &Line) {
        let event = &line.event;
        let mut models = self.models.lock().unwrap_or_else(PoisonError::into_inner);
        models.take(event);
        if let Some((weight, text)) = event_line::line(event, StepSummary::default(), &models) {
            self.write(Level::of_weight(weight), &text);
        }
    }
}

impl Level {
    fn of(name: &str) -> Self {
        let levels = [Self::Error, Self::Warn, Self::Debug];
        levels.into_iter().find(|level| level.name() == name).unwrap_or(Self::Info)
    }

    fn of_weight(weight: Weight) -> Self {
        match weight {
            Weight::Detail => Self::Debug,
            Weight::News => Self::Info,
            Weight::Warning => Self::Warn,
        }
    }

    fn name(self) -> String {
        format!("{self:?}").to_uppercase()
    }
}
