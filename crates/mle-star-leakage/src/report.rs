//! From what the interpreter saw to findings.

use std::collections::BTreeMap;

use crate::facts::SplitKind;
use crate::finding::{Finding, Rule};
use crate::info::{How, Kind, Lesson, Lessons, Score, Scores};
use crate::machine::{Final, Machine};
use crate::names;
use crate::rows::{DivisionKind, Origin, RowsId};
use crate::site::Site;
use crate::source::Lines;
use crate::value::{Number, Value};

/// The findings of a script that was followed to its end.
pub(crate) fn findings(machine: &mut Machine<'_>) -> Vec<Finding> {
    let mut report = Report { lines: Lines::new(machine.source), found: BTreeMap::new() };
    report.files(machine);
    report.final_lines(machine);
    report.columns(machine);
    let reported = reported_scores(machine);
    for (score, lessons) in &reported {
        report.score(machine, score, lessons);
    }
    let mut findings: Vec<Finding> = report.found.into_values().collect();
    findings.sort_by_key(|finding| (finding.line, finding.column, finding.rule));
    findings
}

/// Findings as they are collected: one for each rule and place.
struct Report<'a> {
    lines: Lines<'a>,
    found: BTreeMap<(Rule, Site), Finding>,
}

/// The scores that the script reports, with what else the printed number depends on.
fn reported_scores(machine: &mut Machine<'_>) -> Vec<(Score, Lessons)> {
    let finals: Vec<Value> = machine.found.finals.iter().flat_map(|line| line.values.clone()).collect();
    let reported = scores_in(machine, &finals);
    if !reported.is_empty() {
        return reported;
    }
    // Nothing is known of the final number, so every score may be it. Scores of training rows often are printed next
    // to it, and scores that are not printed may belong to a search.
    let printed = std::mem::take(&mut machine.found.printed);
    let printed = scores_in(machine, &printed);
    let others: Vec<Score> = machine.infos.all_scores().cloned().collect();
    let others = others.into_iter().map(|score| {
        let lessons = machine.infos.map(&score.lessons, |lesson| match lesson.kind {
            Kind::Choice(_) => None,
            _ => Some(lesson),
        });
        (Score { lessons, ..score }, Lessons::default())
    });
    let all: Vec<_> = printed.into_iter().chain(others).collect();
    all.into_iter().filter(|(score, _)| !on_training_rows(machine, score)).collect()
}

fn scores_in(machine: &Machine<'_>, values: &[Value]) -> Vec<(Score, Lessons)> {
    let mut reported = Vec::new();
    for value in values {
        let scores = machine.scores_of(value, 3);
        let lessons = machine.lessons_of(value);
        reported.extend(machine.infos.scores(&scores).map(|score| (score.clone(), lessons.clone())));
    }
    reported
}

fn on_training_rows(machine: &Machine<'_>, score: &Score) -> bool {
    let mut lessons = machine.infos.lessons(&score.lessons);
    score.with_itself
        || lessons.any(|lesson| lesson.kind == Kind::Model && machine.rows.overlap(lesson.from, lesson.on))
}

impl Report<'_> {
    fn files(&mut self, machine: &Machine<'_>) {
        for (site, path) in &machine.found.reads {
            if names::is_of_labels(path) && !machine.found.writes.contains(path) {
                let text = format!(
                    "line {} reads `{path}`, which by its name holds labels that are kept back",
                    self.line(*site)
                );
                self.add(Rule::ReadsLabels, *site, text, "Read only the files of the task.");
            }
        }
    }

    /// Printed scores that no prediction feeds.
    fn final_lines(&mut self, machine: &Machine<'_>) {
        let constant =
            |line: &Final| line.literal || (!line.values.is_empty() && line.values.iter().all(is_constant));
        let lines = &machine.found.finals;
        if lines.is_empty() || !lines.iter().all(constant) {
            return;
        }
        for line in lines {
            let text = format!("line {} prints a score that no prediction feeds", self.line(line.site));
            self.add(
                Rule::ConstantScore,
                line.site,
                text,
                "Print the metric of predictions for validation rows.",
            );
        }
    }

    fn columns(&mut self, machine: &Machine<'_>) {
        for (site, id) in &machine.found.ids {
            let text = format!(
                "the model in line {} is fitted with the column `{id}`, which only identifies rows",
                self.line(*site)
            );
            self.add(Rule::IdAsFeature, *site, text, "Drop the column from the features.");
        }
    }

    fn score(&mut self, machine: &Machine<'_>, score: &Score, more: &Lessons) {
        if score.with_itself {
            let text = format!(
                "the score in line {} compares the true values with themselves",
                self.line(score.site)
            );
            self.add(Rule::ConstantScore, score.site, text, "Compare them with predictions.");
        }
        let own: Vec<Lesson> = machine.infos.lessons(&score.lessons).collect();
        let more = machine.infos.lessons(more).filter(|lesson| matches!(lesson.kind, Kind::Choice(_)));
        let more = more.map(|lesson| Lesson { on: score.rows, ..lesson });
        for lesson in own.iter().copied().chain(more) {
            self.lesson(machine, score, lesson);
        }
    }

    /// What is wrong with a score because of one thing that it depends on.
    fn lesson(&mut self, machine: &Machine<'_>, score: &Score, lesson: Lesson) {
        let seen = machine.rows.contains(lesson.from, lesson.on);
        let (at, scored) = (self.line(lesson.site), self.line(score.site));
        match lesson.kind {
            Kind::Model => self.model(machine, score, lesson),
            Kind::Target if seen => {
                let text = format!(
                    "line {at} computes statistics of the target from rows that the score in line {scored} is computed on"
                );
                self.add(
                    Rule::TargetStatistics,
                    lesson.site,
                    text,
                    "Compute them from the training rows of each split alone.",
                );
            }
            Kind::Selection if seen => {
                let text = format!(
                    "line {at} selects features with the target of rows that the score in line {scored} is computed on"
                );
                self.add(
                    Rule::SelectedBeforeSplit,
                    lesson.site,
                    text,
                    "Select features from the training rows of each split alone.",
                );
            }
            Kind::Unsupervised if seen => {
                let text =
                    format!("line {at} learns from rows that the score in line {scored} is computed on");
                self.add(
                    Rule::UnsupervisedBeforeSplit,
                    lesson.site,
                    text,
                    "Fit it on the training rows of each split.",
                );
            }
            Kind::Stopping if machine.rows.overlap(lesson.from, lesson.on) => {
                let text = format!(
                    "the fit in line {at} is stopped by the score on rows that the score in line {scored} is computed on"
                );
                self.add(
                    Rule::StoppedOnScoredRows,
                    lesson.site,
                    text,
                    "Stop by rows that are taken from the training rows.",
                );
            }
            Kind::Choice(how) if machine.rows.overlap(lesson.from, lesson.on) => {
                self.choice(score, lesson, how);
            }
            _ => {}
        }
    }

    fn choice(&mut self, score: &Score, lesson: Lesson, how: How) {
        let (at, scored) = (self.line(lesson.site), self.line(score.site));
        match how {
            How::Number | How::Seed => {
                let what = if how == How::Seed { "seed" } else { "threshold or weight" };
                let text = format!(
                    "line {at} takes the {what} with the best score, and the reported score of line {scored} is on the same rows"
                );
                self.add(
                    Rule::ChosenOnScoredRows,
                    lesson.site,
                    text,
                    "Choose it on other rows than those that are scored.",
                );
            }
            How::Model | How::Setting => {
                let text = format!(
                    "line {at} takes the best of several models, and the reported score of line {scored} is on the same rows"
                );
                self.add(
                    Rule::ChosenAmongModels,
                    lesson.site,
                    text,
                    "Score the chosen model on rows that did not choose it.",
                );
            }
            How::Open => {}
        }
    }

    fn model(&mut self, machine: &Machine<'_>, score: &Score, lesson: Lesson) {
        let rows = &machine.rows;
        let (at, scored) = (self.line(lesson.site), self.line(score.site));
        if rows.overlap(lesson.from, lesson.on) {
            return self.seen_rows(machine, score, lesson);
        }
        let Some(common) = rows.common(lesson.from, lesson.on) else { return };
        if let Some((one, other)) = rows.different_divisions(lesson.from, lesson.on) {
            return self.crossing(machine, score, lesson, (one, other));
        }
        let Some((division, site)) =
            rows.separation(lesson.from, lesson.on).and_then(|division| rows.division_of(division))
        else {
            return;
        };
        if let Some(repeated) = rows.repetition(common).filter(|_| division.kind != DivisionKind::Groups) {
            let text = format!(
                "line {} repeats or generates rows before line {} splits them, so that the model of line {at} saw copies of the rows \
                 that line {scored} scores",
                self.line(repeated),
                self.line(*site)
            );
            self.add(
                Rule::ResampledBeforeSplit,
                repeated,
                text,
                "Resample the training rows after the split.",
            );
        }
        if !division.kind.is_random() && division.kind != DivisionKind::Folds {
            return;
        }
        self.kind_of_folds(machine, *site, division.kind);
    }

    /// Random folds although the facts, or the order of the rows, say otherwise.
    fn kind_of_folds(&mut self, machine: &Machine<'_>, site: Site, kind: DivisionKind) {
        if let Some(split) = machine.facts.split.as_ref() {
            let column = split.column.as_deref().unwrap_or("a column");
            let wrong = match split.kind {
                SplitKind::Groups => true,
                SplitKind::Time => kind.is_random(),
                _ => false,
            };
            if wrong {
                let differ = if split.kind == SplitKind::Time { "later times" } else { "other groups" };
                let text = format!(
                    "line {} splits rows at random, although test rows have {differ} in `{column}`",
                    self.line(site)
                );
                self.add(Rule::RowsInFoldsOfGroups, site, text, "Split as the test rows were split off.");
            }
        }
        if let Some((_, column)) = machine.found.shuffled.iter().find(|(shuffled, _)| *shuffled == site) {
            let text = format!("line {} shuffles rows that are sorted by `{column}`", self.line(site));
            self.add(Rule::ShuffledTime, site, text, "Validate on later rows than those of the fit.");
        }
    }

    /// The model was fitted on rows that are scored.
    fn seen_rows(&mut self, machine: &Machine<'_>, score: &Score, lesson: Lesson) {
        let (at, scored) = (self.line(lesson.site), self.line(score.site));
        if let Some(site) = brought_together(machine, lesson.from, lesson.on) {
            let text = format!("line {} puts rows into training that line {scored} scores", self.line(site));
            return self.add(
                Rule::SameRows,
                site,
                text,
                "Keep the validation rows out of the training rows.",
            );
        }
        let text = format!("line {scored} scores rows that the model was fitted on in line {at}");
        self.add(
            Rule::ScoredOnTrainingRows,
            score.site,
            text,
            "Score rows that the model was not fitted on.",
        );
    }

    /// Training and validation rows come from two different divisions of the same rows.
    fn crossing(
        &mut self,
        machine: &Machine<'_>,
        score: &Score,
        lesson: Lesson,
        (one, other): (crate::rows::DivisionId, crate::rows::DivisionId),
    ) {
        let (Some((left, _)), Some((right, site))) =
            (machine.rows.division_of(one), machine.rows.division_of(other))
        else {
            return;
        };
        let position = |key: &str| key.strip_prefix("at ")?.parse::<i64>().ok();
        let overlapping = match (position(&left.key), position(&right.key)) {
            (Some(end), Some(start)) => end > start && start >= 0,
            _ => left.kind.is_random() && right.kind.is_random(),
        };
        if overlapping {
            let text = format!(
                "the rows that line {} scores were drawn apart from those that line {} fits on, so they overlap",
                self.line(score.site),
                self.line(lesson.site)
            );
            self.add(Rule::SameRows, *site, text, "Take both from one split.");
        }
    }

    fn line(&self, site: Site) -> u32 {
        self.lines.line(site.expression)
    }

    fn add(&mut self, rule: Rule, site: Site, text: String, instead: &str) {
        let range = site.expression;
        let (line, column) = self.lines.position(range.start().to_usize());
        let (end_line, end_column) = self.lines.position(range.end().to_usize());
        let finding = Finding {
            rule,
            severity: rule.severity(),
            line,
            column,
            end_line,
            end_column,
            block: site.statement.to_std_range(),
            text,
            instead: instead.to_owned(),
        };
        self.found.entry((rule, site)).or_insert(finding);
    }
}

/// Where rows were put together that were apart before: validation rows joined to training rows, or a sample that
/// stays in the table it was drawn from.
fn brought_together(machine: &Machine<'_>, from: RowsId, on: RowsId) -> Option<Site> {
    let rows = &machine.rows;
    let joined = rows.ancestors(from).find_map(|above| match rows.origin(above) {
        Origin::Joined { site, .. } => Some((above, *site)),
        _ => None,
    });
    if let Some((above, site)) = joined
        && !rows.ancestors(on).any(|other| other == above)
    {
        return Some(site);
    }
    // A sample whose rest was never taken.
    match rows.origin(on) {
        Origin::Part { of, division, .. } if *of == from => {
            let (division, site) = rows.division_of(*division)?;
            (division.key.starts_with("sample")).then_some(*site)
        }
        _ => None,
    }
}

/// Whether a printed value is a constant or drawn at random.
fn is_constant(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) => true,
        Value::Number(number) => {
            let Number { random, scores, .. } = &**number;
            *random && *scores == Scores::default()
        }
        _ => false,
    }
}
