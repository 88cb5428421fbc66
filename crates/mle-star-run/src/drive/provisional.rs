//! Keeps two things in a run's folder while it goes on, which stay there if it ends early, whatever the reason: a usable answer
//! in `final/`, which is the best solution and the best checked submission of any script, and the run in short in
//! `summary.json`.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use mle_star::event::{Event, EventSink};
use mle_star::verdict::Best;
use mle_star_backends::script::environment::requirements_txt;
use mle_star_domain::layout;
use mle_star_domain::metric::{Direction, Score};
use mle_star_domain::question::FileStem;
use mle_star_report::run_view::{Provisional, provisional};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::backends::Backends;
use super::delivery::{keep_folds, link_data, replace, write_submission};
use super::results::keep_summary;
use crate::open_run::OpenRun;
use crate::runs::inputs::{write_atomically, write_json};

/// The answer of a run at a moment.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    solution: Best,
    submission: Option<Best>,
}

/// An event sink that writes each new answer of a run, and its summary with each verdict, in the background, and forwards all
/// events. The latest answer wins.
pub struct AnswerWriter<'a> {
    forward_to: &'a dyn EventSink,
    latest: watch::Sender<Option<Answer>>,
    /// The answer that an earlier process left, until the replay comes to it.
    earlier: Mutex<Option<Best>>,
    direction: Direction,
    writing: JoinHandle<Result<(), String>>,
}

/// The note that a run which ends early has no predictions for the rows of the test table yet, because its scripts predict an
/// earlier period and none has run on the original files.
pub fn unanswered(run: &OpenRun) -> Option<String> {
    let protocol = run.frozen.protocol.as_ref().filter(|protocol| protocol.holdout.is_period())?;
    let last = run.folder.join(layout::FINAL);
    if last.join(layout::SUBMISSION).exists() || !last.join(layout::SOLUTION).exists() {
        return None;
    }
    let held_out = protocol.periods.as_ref().and_then(|periods| periods.held_out.as_ref());
    let period = held_out.map_or_else(String::new, |period| format!(", {}", period.words()));
    Some(format!(
        "note: no predictions for the test rows yet: what scripts have predicted is the held-out period{period}"
    ))
}

impl<'a> AnswerWriter<'a> {
    /// Starts to write the answers of a run; requires a runtime.
    pub fn start(run: &OpenRun, backends: &Backends, forward_to: &'a dyn EventSink) -> Self {
        let scripts = backends.scripts.clone();
        let files = Files {
            folder: run.folder.clone(),
            data_dir: backends.all_rows.clone(),
            requirements: requirements_txt(&backends.environment),
            submission: Box::new(move |run| scripts.submission(run)),
        };
        let earlier = provisional(&run.folder).map(|earlier| earlier.solution);
        Self::new(files, earlier, run.frozen.task.metric_direction, forward_to)
    }

    fn new(files: Files, earlier: Option<Best>, direction: Direction, forward_to: &'a dyn EventSink) -> Self {
        let (latest, answers) = watch::channel(None);
        let writing = tokio::spawn(write_on(files, answers));
        Self { forward_to, latest, earlier: Mutex::new(earlier), direction, writing }
    }

    /// Writes the last answer; returns a note if an answer could not be written.
    pub async fn end(self) -> Option<String> {
        drop(self.latest);
        let written = self.writing.await.unwrap_or_else(|error| Err(error.to_string()));
        written.err().map(|error| format!("note: the answer so far could not be written: {error}"))
    }

    /// Whether the replay is not yet where the earlier process was, because that left a better answer.
    fn is_replaying(&self, now: &Best) -> bool {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        if earlier.as_ref() == Some(now) {
            // All that follows is new, whatever its score.
            *earlier = None;
        }
        let score = |best: &Best| Score::new(best.score, self.direction);
        let scores = earlier.as_ref().and_then(score).zip(score(now));
        scores.is_some_and(|(earlier, now)| earlier.beats(now))
    }
}

impl EventSink for AnswerWriter<'_> {
    fn emit(&self, event: Event) {
        match &event {
            Event::Answer { solution, submission } if !self.is_replaying(solution) => {
                let (solution, submission) = (solution.clone(), submission.clone());
                self.latest.send_replace(Some(Answer { solution, submission }));
            }
            // The summary follows each verdict; the answer may be the same.
            Event::StepEnded { .. } => self.latest.send_modify(|_| {}),
            _ => {}
        }
        self.forward_to.emit(event);
    }
}

/// The folders that answers are read from and written to.
struct Files {
    folder: PathBuf,
    data_dir: PathBuf,
    requirements: String,
    /// The submission that a run wrote.
    submission: FindSubmission,
}

/// A lookup of the submission that a run wrote.
type FindSubmission = Box<dyn Fn(&FileStem) -> Option<PathBuf> + Send + Sync>;

/// Writes until the sender is gone. A failure does not stop it: the next answer may succeed.
async fn write_on(files: Files, mut answers: watch::Receiver<Option<Answer>>) -> Result<(), String> {
    let files = std::sync::Arc::new(files);
    let (mut last, mut known) = (Ok(()), None);
    while answers.changed().await.is_ok() {
        let answer = answers.borrow_and_update().clone();
        let new = answer.clone().filter(|_| answer != known);
        let (files, is_new) = (std::sync::Arc::clone(&files), new.is_some());
        let written = tokio::task::spawn_blocking(move || {
            let written = new.map_or(Ok(()), |answer| files.write(&answer));
            keep_summary(&files.folder);
            written
        });
        let written = written.await.map_err(io::Error::from).flatten().map_err(|error| error.to_string());
        if is_new {
            (last, known) = (written, answer);
        }
    }
    last
}

impl Files {
    /// Writes an answer. One without a submission does not replace one with: a resumed run announces its early
    /// answers again.
    fn write(&self, answer: &Answer) -> io::Result<()> {
        let last = self.folder.join(layout::FINAL);
        // The result of smaller limits stays until a better one is complete.
        if self.folder.join(layout::RESULT).exists() {
            return Ok(());
        }
        let submission = match &answer.submission {
            Some(best) => {
                (self.submission)(&FileStem::new(&best.run, &self.script(best)?)).map(|file| (best, file))
            }
            None => None,
        };
        if submission.is_none() && last.join(layout::SUBMISSION).exists() {
            return Ok(());
        }
        link_data(&self.folder.join(layout::INPUT), &self.data_dir)?;
        replace(&last, |next| {
            write_atomically(&next.join(layout::SOLUTION), self.script(&answer.solution)?.as_bytes())?;
            write_atomically(&next.join(layout::REQUIREMENTS), self.requirements.as_bytes())?;
            keep_folds(&self.data_dir, next)?;
            let Some((best, file)) = submission else { return Ok(()) };
            write_submission(&self.folder, &file, &next.join(layout::SUBMISSION))?;
            let (place, solution) = (best.run.to_string(), answer.solution.clone());
            let provisional = Provisional { place, score: best.score, interval: None, solution };
            write_json(&next.join(layout::PROVISIONAL), &provisional)
        })
    }

    /// The text that ran.
    fn script(&self, best: &Best) -> io::Result<String> {
        let name = format!("{}.py", best.run.file_stem());
        fs::read_to_string(self.folder.join(layout::SOLUTIONS).join(name))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use mle_star::event::NoEvents;
    use mle_star::journal::Journal;
    use mle_star::testing::frozen;
    use mle_star::verdict::Verdict;
    use mle_star_domain::effects::Limit;
    use mle_star_domain::place::Step;

    use super::*;

    fn best(step: Step, score: f64) -> Best {
        let run = step.place().named(mle_star_domain::place::Name::Run);
        Best { step, run, score }
    }

    /// Files of a run in this folder, whose submissions are `made`, and the scripts of two steps.
    fn files(folder: &Path, made: impl Fn(&FileStem) -> Option<PathBuf> + Send + Sync + 'static) -> Files {
        fs::create_dir(folder.join(layout::SOLUTIONS)).unwrap();
        for step in [Step::Merge(1), Step::Round(0)] {
            let name = format!("{}.py", best(step, 0.0).run.file_stem());
            fs::write(folder.join(layout::SOLUTIONS).join(name), format!("# {step}")).unwrap();
        }
        fs::write(folder.join("made.csv"), "id,y\n1,0\n").unwrap();
        let (folder, data_dir) = (folder.to_owned(), folder.to_owned());
        Files { folder, data_dir, requirements: "numpy==2".to_owned(), submission: Box::new(made) }
    }

    fn writer(files: Files, earlier: Option<Best>) -> AnswerWriter<'static> {
        AnswerWriter::new(files, earlier, Direction::Maximize, &NoEvents)
    }

    #[tokio::test]
    async fn a_better_answer_of_an_earlier_process_stands_until_the_replay_comes_to_it() {
        let run = tempfile::tempdir().unwrap();
        let left = best(Step::Merge(1), 0.9);
        let writer = writer(files(run.path(), |_| None), Some(left.clone()));
        let (early, late) = (best(Step::Candidate(0), 0.8), best(Step::Round(0), 0.85));
        let seen = [&early, &left, &late, &early].map(|now| writer.is_replaying(now));
        assert_eq!(seen, [true, false, false, false]);
    }

    #[tokio::test]
    async fn the_latest_answer_lies_in_the_final_folder() {
        let run = tempfile::tempdir().unwrap();
        let (folder, made) = (run.path(), run.path().join("made.csv"));
        let its = FileStem::new(&best(Step::Merge(1), 0.5).run, "# phase1/merge-1");
        let writer = writer(files(folder, move |run| (*run == its).then(|| made.clone())), None);
        let merge = best(Step::Merge(1), 0.5);
        let tell = |solution: Best, submission: Option<Best>| {
            writer.emit(Event::Answer { solution, submission });
        };
        tell(merge.clone(), None);
        tell(best(Step::Round(0), 0.6), Some(merge));
        assert_eq!(writer.end().await, None);
        let read = |name: &str| fs::read_to_string(folder.join(layout::FINAL).join(name)).unwrap();
        assert_eq!(read(layout::SOLUTION), "# phase3/r0");
        assert_eq!(read(layout::SUBMISSION), "id,y\n1,0\n");
        let provisional: Provisional = serde_json::from_str(&read(layout::PROVISIONAL)).unwrap();
        assert_eq!((provisional.place.as_str(), provisional.score), ("phase1/merge-1/run", 0.5));
        assert_eq!(provisional.solution, best(Step::Round(0), 0.6));
        assert!(!folder.join("final.next").exists());
    }

    #[test]
    fn an_answer_without_a_submission_does_not_replace_one_with() {
        let run = tempfile::tempdir().unwrap();
        let (folder, made) = (run.path(), run.path().join("made.csv"));
        let files = files(folder, move |_| Some(made.clone()));
        let (early, late) = (best(Step::Merge(1), 0.5), best(Step::Round(0), 0.6));
        fs::create_dir_all(folder.join("final.next")).unwrap();
        fs::write(folder.join("final.next").join(layout::SOLUTION), "left by a killed process").unwrap();
        fs::write(folder.join("final.next").join("notes.txt"), "of the user").unwrap();
        files.write(&Answer { solution: late.clone(), submission: Some(late.clone()) }).unwrap();
        assert!(!folder.join("final.next").exists());
        assert!(folder.join(layout::FINAL).join("notes.txt").exists());
        files.write(&Answer { solution: early, submission: None }).unwrap();
        let read = |name: &str| fs::read_to_string(folder.join(layout::FINAL).join(name)).unwrap();
        assert_eq!(read(layout::SOLUTION), "# phase3/r0");
        let provisional: Provisional = serde_json::from_str(&read(layout::PROVISIONAL)).unwrap();
        assert_eq!(provisional.solution, late);
    }

    #[tokio::test]
    async fn each_verdict_is_followed_by_a_summary_of_the_run_as_it_is_left() {
        let run = tempfile::tempdir().unwrap();
        let journal = Journal::create(run.path(), &frozen()).unwrap();
        let summary = || -> Option<serde_json::Value> {
            serde_json::from_str(&fs::read_to_string(run.path().join(layout::SUMMARY)).ok()?).ok()
        };
        let writer = writer(files(run.path(), |_| None), None);
        let step = Step::Candidate(0);
        let verdict = Verdict { score: Some(0.5), ..Verdict::default() };
        writer.emit(Event::Skipped { place: step.place(), limit: Limit::Time });
        tokio::task::yield_now().await;
        assert_eq!(summary(), None);
        journal.fail(&Step::Outer { path: 1, outer: 0 }.place(), "no script ran").unwrap();
        writer.emit(Event::StepEnded { place: step, verdict });
        assert_eq!(writer.end().await, None);
        let summary = summary().unwrap();
        assert_eq!(summary["state"], "unfinished", "{summary}");
        assert_eq!(summary["failed_paths"][0]["cause"], "no script ran", "{summary}");
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_written_is_a_note() {
        let run = tempfile::tempdir().unwrap();
        let writer = writer(files(run.path(), |_| None), None);
        let solution = best(Step::Merge(2), 0.5);
        writer.emit(Event::Answer { solution, submission: None });
        let note = writer.end().await.unwrap();
        assert!(note.contains("could not be written"), "{note}");
    }
}
