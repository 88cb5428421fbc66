//! What a run did, with the hidden scores of everything that it could have submitted.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use mle_star::journal::{self, EffectRecord, Kind};
use mle_star::result::FinalResult;
use mle_star_domain::effects::{Purpose, ScriptOutcome};
use mle_star_domain::layout;
use mle_star_domain::metric::{Direction, Score, sort_best_first};
use mle_star_domain::place::{Phase, Place};
use mle_star_domain::trust::{Choice, ChoiceCandidate, Trust};
use serde::Deserialize;

use super::Failure;
use super::runs::{End, Run};
use super::statistics::Pair;
use super::tasks::Made;

/// The solutions whose submissions are averaged.
const AVERAGED: usize = 3;

/// A finished run.
pub struct Record {
    /// The hidden score of the submission; `None` if there is no valid one.
    pub hidden: Option<f64>,
    /// The hidden scores of all submissions that scripts wrote in the search, before the last run on all rows.
    pub searched: Vec<f64>,
    /// The hidden score of the one that the chosen solution wrote in the search; `None` if it wrote no valid one.
    pub chosen: Option<f64>,
    /// The different scripts with a validation score.
    pub scripts: Vec<Script>,
    /// How far the run says that its score can be trusted.
    pub trust: Trust,
    /// Whether another solution than the best one by validation was chosen.
    pub chose_another: bool,
    /// Seconds of the whole run.
    pub seconds: f64,
    /// Seconds of calls that are made for the held-out rows alone.
    pub holdout_seconds: f64,
    /// The hidden score of the average of the best submissions by validation score.
    pub averaged: Option<f64>,
}

/// A script with a validation score.
pub struct Script {
    validation: Score,
    /// The score of its own submission; `None` if it wrote no valid one.
    hidden: Option<f64>,
    submission: PathBuf,
}

/// A script's run in the journal.
#[derive(Deserialize)]
struct Request {
    script: String,
    purpose: Purpose,
}

/// How a run ended, and its record; no record if it failed, nothing if it has not ended.
///
/// # Errors
/// Its files cannot be read.
pub fn of(run: &Run, folder: &Path, made: &Made) -> Result<Option<(End, Option<Record>)>, Failure> {
    let Some(end) = run.end(folder) else { return Ok(None) };
    let read = || read(&run.folder(folder), made);
    let record = if end.failed { Ok(None) } else { read().map(Some) };
    let record = record.map_err(|error| format!("cannot read {}: {error}", run.name()))?;
    Ok(Some((end, record)))
}

fn read(folder: &Path, made: &Made) -> Result<Record, Failure> {
    let result: FinalResult = serde_json::from_slice(&fs::read(folder.join(layout::RESULT))?)?;
    let snapshot = journal::read(folder)?;
    let scripts = scripts(folder, made, &snapshot.effects);
    let counting = snapshot.effects.iter().filter(|effect| effect.counts());
    let submitted = submitted_in_search(&snapshot.effects);
    let for_holdout = counting.filter(|effect| is_for_holdout(effect, &submitted));
    let trust = result.trust.ok_or("the run says nothing about trust")?;
    Ok(Record {
        hidden: made.score(&folder.join(layout::FINAL).join(layout::SUBMISSION)).ok(),
        searched: searched(folder, made, &snapshot.effects),
        chosen: chosen(folder, made, &snapshot.effects, &trust.choice),
        averaged: averaged(made, &scripts),
        scripts,
        chose_another: chose_another(&trust.choice, made.task.metric.direction()),
        trust,
        seconds: result.total_duration_seconds,
        holdout_seconds: for_holdout.filter_map(seconds).sum(),
    })
}

impl Record {
    /// The validation score and the hidden score of each script that has both.
    pub fn pairs(&self) -> Vec<Pair> {
        let pair =
            |script: &Script| Some(Pair { reported: script.validation.value(), hidden: script.hidden? });
        self.scripts.iter().filter_map(pair).collect()
    }
}

/// Whether a candidate of the final choice has a better validation score than the chosen one, which comes first.
fn chose_another(choice: &Choice, direction: Direction) -> bool {
    let score = |candidate: &ChoiceCandidate| Score::new(candidate.validation, direction);
    let chosen = choice.candidates.first().and_then(score);
    chosen.is_some_and(|chosen| choice.candidates.iter().filter_map(score).any(|other| other.beats(chosen)))
}

/// The different scripts that got a validation score, best first.
fn scripts(folder: &Path, made: &Made, effects: &[EffectRecord]) -> Vec<Script> {
    let mut known = HashSet::new();
    let mut scripts = Vec::new();
    for effect in effects.iter().filter(|effect| effect.counts() && effect.kind == Kind::Script) {
        let Ok(request) = Request::deserialize(&effect.request) else { continue };
        let outcome = effect.outcome.as_ref().and_then(|outcome| ScriptOutcome::deserialize(outcome).ok());
        let valid = outcome.filter(|outcome| !outcome.is_error() && outcome.mismatch.is_none());
        let score = valid.and_then(|outcome| Score::new(outcome.value()?, made.task.metric.direction()));
        let Some(validation) = score.filter(|_| request.purpose == Purpose::Score) else { continue };
        if known.insert(request.script.clone()) {
            let submission = submission(folder, &effect.place, &request.script);
            scripts.push(Script { validation, hidden: made.score(&submission).ok(), submission });
        }
    }
    sort_best_first(&mut scripts, |script| script.validation);
    scripts
}

fn averaged(made: &Made, scripts: &[Script]) -> Option<f64> {
    let usable = scripts.iter().filter(|script| script.hidden.is_some());
    let best: Vec<&Path> = usable.take(AVERAGED).map(|script| script.submission.as_path()).collect();
    made.score_of_average(&best).ok()
}

/// The file that keeps the submission of a script.
fn submission(folder: &Path, place: &Place, script: &str) -> PathBuf {
    let digest = blake3::hash(script.as_bytes()).to_hex();
    folder.join(layout::SUBMISSIONS).join(format!("{}.{}.csv", place.file_stem(), &digest[..8]))
}

/// The scripts of the search that ran.
fn of_search(effects: &[EffectRecord]) -> impl Iterator<Item = &EffectRecord> {
    effects.iter().filter(|effect| {
        effect.counts() && effect.kind == Kind::Script && effect.place.phase() != Some(Phase::Finalization)
    })
}

/// The hidden score of the submission that a script wrote.
fn hidden(folder: &Path, made: &Made, effect: &EffectRecord) -> Option<f64> {
    let request = Request::deserialize(&effect.request).ok()?;
    made.score(&submission(folder, &effect.place, &request.script)).ok()
}

fn searched(folder: &Path, made: &Made, effects: &[EffectRecord]) -> Vec<f64> {
    of_search(effects).filter_map(|effect| hidden(folder, made, effect)).collect()
}

fn chosen(folder: &Path, made: &Made, effects: &[EffectRecord], choice: &Choice) -> Option<f64> {
    let place = &choice.candidates.first()?.place;
    hidden(folder, made, of_search(effects).find(|effect| effect.place == *place)?)
}

/// The scripts that wrote a valid submission before finalization.
fn submitted_in_search(effects: &[EffectRecord]) -> HashSet<String> {
    let script = |effect: &EffectRecord| {
        let outcome = ScriptOutcome::deserialize(effect.outcome.as_ref()?).ok()?;
        let is_valid = outcome.submission.is_some_and(|submission| submission.findings.is_empty());
        Request::deserialize(&effect.request).ok().filter(|_| is_valid).map(|request| request.script)
    };
    of_search(effects).filter_map(script).collect()
}

/// Whether an effect happens because rows are held out: also the last run of a script that had already written its
/// submission in the search.
fn is_for_holdout(effect: &EffectRecord, submitted: &HashSet<String>) -> bool {
    let place = effect.place.as_str();
    let runs_again =
        || Request::deserialize(&effect.request).is_ok_and(|request| submitted.contains(&request.script));
    effect.kind == Kind::Look
        || ["finalization/holdout/", "finalization/choice-"].iter().any(|start| place.starts_with(start))
        || place == "finalization/run" && runs_again()
}

fn seconds(effect: &EffectRecord) -> Option<f64> {
    Some((effect.elapsed_ended? - effect.elapsed_begun).max(0.0))
}

#[cfg(test)]
mod tests {
    use mle_star_domain::effects::{ScriptEnd, Submission};

    use super::*;

    #[test]
    fn the_chosen_candidate_comes_first() {
        let check = |validation: &[f64], direction, expected: bool| {
            let candidate = |validation: &f64| ChoiceCandidate {
                place: Place::root(),
                validation: *validation,
                holdout: None,
            };
            let candidates = validation.iter().map(candidate).collect();
            let choice = Choice { rule: String::new(), candidates };
            assert_eq!(chose_another(&choice, direction), expected, "{validation:?}");
        };
        check(&[0.5, 0.6], Direction::Maximize, true);
        check(&[0.5, 0.6], Direction::Minimize, false);
        check(&[0.5, 0.5], Direction::Maximize, false);
        check(&[], Direction::Maximize, false);
    }

    fn effect(kind: &str, place: &str, script: &str, outcome: Option<&ScriptOutcome>) -> EffectRecord {
        serde_json::from_value(serde_json::json!({
            "seq": 1, "place": place, "kind": kind, "state": "ended",
            "request": {"script": script, "purpose": "score"}, "outcome": outcome,
            "limit": null, "usage": {"cost_usd": null, "input": 0, "output": 0, "cache_read": 0, "cache_write": 0},
            "begun_at": "", "ended_at": null, "elapsed_begun": 1.0, "elapsed_ended": 1.5,
        }))
        .unwrap()
    }

    #[test]
    fn only_calls_for_held_out_rows_count_for_the_holdout() {
        let ended = ScriptOutcome::of(ScriptEnd::Exited { code: 0 });
        let submitted = |findings: &[&str]| {
            let findings = findings.iter().map(|finding| (*finding).to_owned()).collect();
            let submission = Some(Submission { bytes: 20, rows: Some(2), findings });
            ScriptOutcome { submission, ..ended.clone() }
        };
        let search = [
            effect("script", "phase1/candidate-0/run", "whole", Some(&submitted(&[]))),
            effect("script", "phase1/candidate-1/run", "invalid", Some(&submitted(&["a row is missing"]))),
            effect("script", "phase1/candidate-2/run", "scored", Some(&ended)),
            effect("script", "finalization/holdout/run", "written later", Some(&submitted(&[]))),
        ];
        let known = submitted_in_search(&search);
        assert_eq!(known, HashSet::from(["whole".to_owned()]));
        let check = |kind: &str, place: &str, script: &str, expected: bool| {
            let effect = effect(kind, place, script, None);
            assert_eq!(is_for_holdout(&effect, &known), expected, "{place} {script}");
            assert_eq!(seconds(&effect), Some(0.5));
        };
        check("script", "finalization/holdout/run", "written later", true);
        check("script", "finalization/choice-1/run", "scored", true);
        check("look", "finalization/look", "", true);
        check("script", "finalization/run", "whole", true);
        check("script", "finalization/run", "invalid", false);
        check("script", "finalization/run", "written later", false);
        check("script", "finalization/debug-1/run", "mended", false);
        check("script", "phase1/candidate-0/run", "whole", false);
    }
}
