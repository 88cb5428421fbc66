//! Compares runs: what differs in their settings, scores with intervals and over time, and scripts side by side.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Query, State as Of};
use mle_star::journal::in_words;
use mle_star_domain::trouble::Trouble;
use mle_star_report::chart::{self, About, Compared, Course, Point};
use mle_star_report::figures::{duration, number};
use mle_star_report::run_view::{self, RunView};
use mle_star_report::score_report::{Figure, ScoreReport};
use mle_star_report::views;
use serde_json::{Value, json};

use super::answer::{ErrorResponse, Page, PageResponse, in_background};
use super::folder::page_of;
use super::site::Site;

/// Maximum number of runs; more lines in a chart cannot be distinguished.
const MOST: usize = 8;
/// Maximum length of a value in characters.
const LONGEST: usize = 160;

/// A compared run, labelled by a letter.
struct ComparedRun {
    letter: String,
    id: String,
    view: RunView,
    points: Vec<Point>,
}

/// Compares the runs in the address, each given as `run=ID`.
///
/// # Errors
/// One of them cannot be read, or there are fewer than two.
pub async fn page(Of(site): Of<Arc<Site>>, Query(pairs): Query<Vec<(String, String)>>) -> PageResponse {
    let mut ids: Vec<String> = pairs.into_iter().filter(|(key, _)| key == "run").map(|(_, id)| id).collect();
    let mut seen = std::collections::BTreeSet::new();
    ids.retain(|id| seen.insert(id.clone()));
    if !(2..=MOST).contains(&ids.len()) {
        let message = format!("{} runs cannot be compared", ids.len());
        let hint = format!("choose two to {MOST} in the list of runs");
        return Err(ErrorResponse::conflict(Trouble::new(message, hint)).into());
    }
    let values = in_background(move || {
        let runs: Result<Vec<ComparedRun>, ErrorResponse> =
            ids.into_iter().zip('A'..).map(|(id, letter)| ComparedRun::read(&site, id, letter)).collect();
        Ok(compared(&runs?))
    });
    Page::rendered("ui/compare.html", &values.await?)
}

impl ComparedRun {
    fn read(site: &Site, id: String, letter: char) -> Result<Self, ErrorResponse> {
        let view = run_view::read(&site.find(&id)?)
            .map_err(|error| ErrorResponse::conflict(Trouble::new(format!("{id}: {error}"), error.hint())))?;
        let points = views::course(&view);
        Ok(Self { letter: letter.to_string(), id, view, points })
    }

    fn row(&self) -> Value {
        let (summary, scores) = (&self.view.summary, self.scores());
        let figure = |figure: Option<Figure>| {
            figure.map(|figure| json!({"score": figure.score, "interval": figure.interval}))
        };
        json!({
            "letter": self.letter, "id": self.id, "address": page_of(&self.id), "task": summary.task,
            "state": summary.run.state.name(), "best": summary.best_score.map(number), "metric": summary.run.metric,
            "direction": summary.run.direction, "validated": figure(scores.validated()),
            "held_out": figure(scores.held_out()), "scores": self.points.len(),
            "improvements": self.points.iter().skip(1).filter(|point| point.improved).count(),
            "time": duration(summary.spent.elapsed_seconds), "cost": summary.cost().unwrap_or_else(|| "none".to_owned()),
        })
    }

    /// The scores of the result; of a run without one, the best score so far.
    fn scores(&self) -> ScoreReport {
        let so_far =
            || ScoreReport { validation_score: self.view.summary.best_score, ..ScoreReport::default() };
        self.view.result.as_ref().map_or_else(so_far, ScoreReport::of)
    }

    /// What makes its scores comparable with those of others.
    fn scale(&self) -> (&str, &'static str, &str) {
        let run = &self.view.summary.run;
        (&run.metric, run.direction.name(), &self.view.snapshot.frozen.data_id)
    }

    /// The inputs and program versions of the run, by key.
    fn inputs(&self) -> BTreeMap<String, String> {
        let frozen = &self.view.snapshot.frozen;
        let mut found = BTreeMap::new();
        flatten("task", &serde_json::to_value(&frozen.task).unwrap_or_default(), &mut found);
        flatten("config", &serde_json::to_value(&frozen.config).unwrap_or_default(), &mut found);
        found.insert("data".to_owned(), frozen.data_id.clone());
        found.insert("made with".to_owned(), in_words(&self.view.snapshot.made_with));
        for (name, text) in &frozen.prompts {
            found.insert(format!("prompts.{name}"), format!("{} bytes, {}", text.len(), digest(text)));
        }
        found
    }
}

fn compared(runs: &[ComparedRun]) -> Value {
    let mut scales: Vec<Vec<&ComparedRun>> = Vec::new();
    for run in runs {
        match scales.iter_mut().find(|scale| scale[0].scale() == run.scale()) {
            Some(scale) => scale.push(run),
            None => scales.push(vec![run]),
        }
    }
    json!({
        "runs": runs.iter().map(ComparedRun::row).collect::<Vec<_>>(),
        "apart": apart(&scales),
        "scales": scales.iter().enumerate().map(|(index, runs)| charts(index, runs)).collect::<Vec<_>>(),
        "differences": differences(runs),
        "diffs": diffs(runs),
    })
}

/// Why the scores are not on one axis; `None` if they are.
fn apart(scales: &[Vec<&ComparedRun>]) -> Option<String> {
    let first = scales.first()?.first()?.scale();
    let others = || scales.iter().skip(1).filter_map(|scale| Some(scale.first()?.scale()));
    let reasons = [
        (others().any(|(metric, ..)| metric != first.0), "metrics"),
        (others().any(|(metric, direction, _)| metric == first.0 && direction != first.1), "directions"),
        (others().any(|(.., data)| data != first.2), "data"),
    ];
    let reasons: Vec<&str> = reasons.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect();
    (!reasons.is_empty()).then(|| reasons.join(" and "))
}

/// The charts of runs whose scores can be compared.
fn charts(index: usize, runs: &[&ComparedRun]) -> Value {
    let described = runs.iter().map(|one| {
        let best = one.view.summary.best_score.map_or_else(|| "no score".to_owned(), number);
        format!("{}: {best} after {}", one.letter, duration(one.view.summary.spent.elapsed_seconds))
    });
    let description = described.collect::<Vec<_>>().join("; ");
    let scores: Vec<ScoreReport> = runs.iter().map(|one| one.scores()).collect();
    let with_intervals: Vec<Compared<'_>> =
        runs.iter().zip(&scores).map(|(one, of)| with_interval(one, of)).collect();
    let courses: Vec<Course<'_>> =
        runs.iter().map(|one| Course { name: &one.letter, points: &one.points }).collect();
    let ids = ["scores", "course"].map(|name| format!("compared-{name}-{index}"));
    let metric = &runs[0].view.summary.run.metric;
    let about = |id, title| About { id, title, description: &description };
    json!({
        "letters": runs.iter().map(|one| one.letter.as_str()).collect::<Vec<_>>(),
        "scores": chart::compared(&about(&ids[0], "Scores with 95 % intervals"), metric, &with_intervals),
        "has_held_out": with_intervals.iter().any(|run| run.held_out.is_some()),
        "course": chart::courses(&about(&ids[1], "Best scores over time"), &courses),
    })
}

fn with_interval<'a>(run: &'a ComparedRun, scores: &ScoreReport) -> Compared<'a> {
    Compared {
        name: &run.letter,
        validated: scores.validation_score.map(|score| (score, scores.validation_interval)),
        held_out: scores.held_out_score.map(|score| (score, scores.held_out_interval)),
    }
}

/// The keys whose values differ between the runs, settings first.
fn differences(runs: &[ComparedRun]) -> Vec<Value> {
    let inputs: Vec<BTreeMap<String, String>> = runs.iter().map(ComparedRun::inputs).collect();
    let keys: std::collections::BTreeSet<&String> = inputs.iter().flat_map(BTreeMap::keys).collect();
    let values =
        |key: &String| inputs.iter().map(|of| of.get(key).map_or("", String::as_str)).collect::<Vec<_>>();
    let mut keys: Vec<&String> = keys.into_iter().collect();
    keys.sort_by_key(|key| (!key.starts_with("config."), !key.starts_with("task.")));
    let differing =
        keys.into_iter().map(|key| (key, values(key))).filter(|(_, of)| of.iter().any(|v| *v != of[0]));
    differing
        .map(|(key, of)| json!({"key": key, "values": of.into_iter().map(cut).collect::<Vec<_>>()}))
        .collect()
}

/// The script of each run beside that of the first run.
fn diffs(runs: &[ComparedRun]) -> Vec<Value> {
    let scripts: Vec<Option<String>> = runs.iter().map(|one| views::last_script(&one.view)).collect();
    let against = |index: usize| {
        let (first, other) = (scripts[0].as_ref()?, scripts[index].as_ref()?);
        Some(views::side_by_side(first, other))
    };
    let of =
        |index: usize| json!({"first": runs[0].letter, "other": runs[index].letter, "diff": against(index)});
    (1..runs.len()).map(of).collect()
}

fn flatten(key: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                flatten(&format!("{key}.{name}"), value, found);
            }
        }
        Value::String(text) => {
            found.insert(key.to_owned(), text.clone());
        }
        Value::Null => {}
        other => {
            found.insert(key.to_owned(), other.to_string());
        }
    }
}

fn cut(text: &str) -> String {
    let head: String = text.chars().take(LONGEST).collect();
    if head.len() < text.len() { format!("{head}…") } else { head }
}

fn digest(text: &str) -> String {
    mle_star::journal::digest(&Value::from(text)).chars().take(12).collect()
}
