//! Turns what the interpreter saw into findings.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::Split;
use crate::finding::{Finding, Rule};
use crate::info::{Dependencies, Dependency, How, Kind, Score, Scores};
use crate::machine::{Final, Machine};
use crate::names;
use crate::rows::{DivisionId, DivisionKind, Origin, RowsId};
use crate::site::Site;
use crate::source::Lines;
use crate::value::{Number, Value};

/// The findings of a script that was followed to its end.
pub(crate) fn findings(machine: &mut Machine<'_>) -> Vec<Finding> {
    let reported = reported_scores(machine);
    let lines = Lines::new(machine.source);
    let mut report =
        Report { machine, reported: &reported, lines, found: BTreeMap::new(), fits: BTreeSet::new() };
    report.files();
    report.final_lines();
    report.columns();
    for (score, deps) in &reported {
        report.score(score, deps);
    }
    let mut findings: Vec<Finding> = report.found.into_values().collect();
    // What is told as a leak is not told again as a warning.
    let place = |finding: &Finding| (finding.line, finding.column);
    let is_leak = |finding: &&Finding| finding.rule == Rule::ChosenOnScoredRows;
    let leaks: Vec<_> = findings.iter().filter(is_leak).map(place).collect();
    findings.retain(|finding| finding.rule != Rule::ChosenAmongModels || !leaks.contains(&place(finding)));
    findings.sort_by_key(|finding| (finding.line, finding.column, finding.rule));
    findings
}

/// Findings as they are collected: one for each rule and place.
struct Report<'a> {
    machine: &'a Machine<'a>,
    reported: &'a [(Score, Dependencies)],
    lines: Lines<'a>,
    found: BTreeMap<(Rule, usize, usize), Finding>,
    /// The fits whose scores of training rows are told: all of these have one cause.
    fits: BTreeSet<Site>,
}

/// The scores that the script reports, with what else the printed number depends on.
fn reported_scores(machine: &mut Machine<'_>) -> Vec<(Score, Dependencies)> {
    // The first score of the final line is the reported one; further ones only accompany it.
    let first = |line: &Final| {
        let scored = line.values.iter().find(|value| !machine.scores_of(value, 3).is_empty());
        scored.cloned()
    };
    let finals: Vec<Value> = machine.seen.finals.iter().filter_map(first).collect();
    let reported = scores_in(machine, &finals);
    if !reported.is_empty() {
        return reported;
    }
    // The origin of the final number is not known, so it may be any score. Scores of training rows are often printed
    // next to it, and scores that are not printed may belong to a search.
    let printed = std::mem::take(&mut machine.seen.printed);
    let printed = scores_in(machine, &printed);
    let mut printed = but_of_spreads(machine, printed);
    // The scores of the steps are often printed, too.
    let in_loops = std::mem::take(&mut machine.seen.printed_in_loops);
    printed.extend(scores_in(machine, &in_loops).into_iter().map(|(score, deps)| {
        let [own, more] = [&score.deps, &deps].map(|deps| {
            machine.infos.map_kinds(deps, |kind| match kind {
                Kind::Choice(How::Steps) => Some(Kind::Choice(How::Setting)),
                _ => Some(kind),
            })
        });
        (Score { deps: own, ..score }, more)
    }));
    let others: Vec<Score> = machine.infos.all_scores().cloned().collect();
    let others = others.into_iter().map(|score| {
        let deps = machine.infos.map(&score.deps, |dep| match dep.kind {
            Kind::Choice(_) => None,
            // A model that watches rows to stop by them does not report their score.
            Kind::Stopping if dep.site == score.site => None,
            _ => Some(dep),
        });
        (Score { deps, ..score }, Dependencies::default())
    });
    let all: Vec<_> = printed.iter().cloned().chain(others).collect();
    let all = but_of_searches(machine, all);
    let claimed = std::mem::take(&mut machine.seen.claimed);
    let claimed = scores_in(machine, &claimed).into_iter();
    let claimed = claimed.filter(|(score, _)| on_training_rows(machine, score)).collect::<Vec<_>>();
    let apart: Vec<_> = all.into_iter().filter(|(score, _)| !on_training_rows(machine, score)).collect();
    if !apart.is_empty() {
        // Others are told beside them, unless the text says that they are scores of rows which were held out.
        return apart.into_iter().chain(claimed).collect();
    }
    printed.into_iter().filter(|(score, _)| beside_unread_rows(machine, score)).chain(claimed).collect()
}

/// The scores without the choices of searches that are over: their result is fitted again on their rows as well, and scored on
/// other ones that were held back.
fn but_of_searches(
    machine: &mut Machine<'_>,
    scores: Vec<(Score, Dependencies)>,
) -> Vec<(Score, Dependencies)> {
    let from = |machine: &Machine<'_>, deps: &Dependencies, is: fn(&Dependency) -> bool| {
        machine.infos.deps(deps).filter(is).map(|dep| dep.from).collect()
    };
    let apart = |machine: &Machine<'_>, one: RowsId, other: RowsId| {
        !machine.rows.overlap(one, other) && machine.rows.common(one, other).is_some()
    };
    let mut results: Vec<(RowsId, Vec<RowsId>)> = Vec::new();
    for (score, more) in &scores {
        let chosen: Vec<RowsId> = from(machine, &score.deps.and(more), is_choice);
        if !on_training_rows(machine, score) && chosen.iter().all(|rows| apart(machine, *rows, score.rows)) {
            results.push((score.rows, from(machine, &score.deps, |dep| dep.kind == Kind::Model)));
        }
    }
    let mut left = Vec::new();
    for (score, more) in scores {
        let is_over = |(rows, fits): &(RowsId, Vec<RowsId>)| {
            apart(machine, *rows, score.rows) && fits.iter().any(|fit| machine.rows.overlap(*fit, score.rows))
        };
        left.push(match results.iter().any(is_over) {
            true => {
                let (deps, more) = (without_choices(machine, &score.deps), without_choices(machine, &more));
                (Score { deps, ..score }, more)
            }
            false => (score, more),
        });
    }
    left
}

fn without_choices(machine: &mut Machine<'_>, deps: &Dependencies) -> Dependencies {
    machine.infos.map(deps, |dep| (!is_choice(&dep)).then_some(dep))
}

fn is_choice(dep: &Dependency) -> bool {
    matches!(dep.kind, Kind::Choice(_))
}

/// The scores without choices, if the mean of the same scores is printed, too: the smallest and the largest tell how far
/// they lie apart.
fn but_of_spreads(
    machine: &mut Machine<'_>,
    scores: Vec<(Score, Dependencies)>,
) -> Vec<(Score, Dependencies)> {
    let means = scores.iter().filter(|(_, more)| !machine.infos.any(more, is_choice));
    let means: Vec<Score> = means.map(|(score, _)| score.clone()).collect();
    let but = |(score, more): (Score, Dependencies)| match means.contains(&score) {
        true => (score, without_choices(machine, &more)),
        false => (score, more),
    };
    scores.into_iter().map(but).collect()
}

/// Whether a score is one of training rows, although others were held out that the script does not look at again.
fn beside_unread_rows(machine: &Machine<'_>, score: &Score) -> bool {
    let mut deps = machine.infos.deps(&score.deps);
    deps.any(|dep| dep.kind == Kind::Model && machine.leaves_unread(dep))
}

fn scores_in(machine: &Machine<'_>, values: &[Value]) -> Vec<(Score, Dependencies)> {
    let mut reported = Vec::new();
    for value in values {
        let scores = machine.scores_of(value, 3);
        let deps = machine.deps_of(value);
        reported.extend(machine.infos.scores(&scores).map(|score| (score.clone(), deps.clone())));
    }
    reported
}

/// Whether a score is meant as one of training rows: a model was fitted on the rows, and they are not kept apart.
fn on_training_rows(machine: &Machine<'_>, score: &Score) -> bool {
    let rows = &machine.rows;
    let trains = |dep: Dependency| {
        let kept_apart = || dep.site != score.site && rows.kept_apart(dep.on, dep.from);
        dep.kind == Kind::Model && rows.overlap(dep.from, dep.on) && !kept_apart()
    };
    score.with_itself || machine.infos.deps(&score.deps).any(trains)
}

impl Report<'_> {
    fn files(&mut self) {
        // With a file of questions, a file of answers is data, not labels.
        let asks = self.machine.seen.reads.iter().any(|(_, path)| path.to_lowercase().contains("question"));
        for (site, path) in &self.machine.seen.reads {
            let answers = asks && path.to_lowercase().ends_with("answers.csv");
            if !answers && names::is_of_labels(path) && !self.machine.seen.writes.contains(path) {
                let line = self.line(*site);
                let text =
                    format!("line {line} reads `{path}`, by its name a file of labels that are kept back");
                self.add(Rule::ReadsLabels, *site, text);
            }
        }
    }

    /// Printed scores that no prediction feeds.
    fn final_lines(&mut self) {
        let constant = |line: &Final| {
            let values = !line.values.is_empty() && line.values.iter().all(is_constant);
            line.literal || (values && !set_elsewhere(self.machine, line.site))
        };
        let lines = &self.machine.seen.finals;
        if lines.is_empty() || !lines.iter().all(constant) {
            return;
        }
        for line in lines {
            let text = format!("line {} prints a score that no prediction feeds", self.line(line.site));
            self.add(Rule::ConstantScore, line.site, text);
        }
    }

    fn columns(&mut self) {
        for (site, id) in &self.machine.seen.ids {
            let fit = self.code(*site);
            let text = format!("{fit} has the column `{id}` among its features, which only identifies rows");
            self.add(Rule::IdAsFeature, *site, text);
        }
    }

    fn score(&mut self, score: &Score, more: &Dependencies) {
        if score.with_itself {
            let text = format!("{} compares the true values with themselves", self.code(score.site));
            self.add(Rule::ConstantScore, score.site, text);
        }
        self.rows_of(score);
        let own: Vec<Dependency> = self.machine.infos.deps(&score.deps).collect();
        let more = self.machine.infos.deps(more).filter(|dep| matches!(dep.kind, Kind::Choice(_)));
        let more = more.map(|dep| Dependency { on: score.rows, ..dep });
        for dep in own.iter().copied().chain(more) {
            self.dep(score, dep);
        }
    }

    /// The scored rows are those that are predicted well.
    fn rows_of(&mut self, score: &Score) {
        let machine = self.machine;
        let mut chosen = machine.seen.chosen_by_errors.iter();
        let among = |chosen: RowsId, rows: RowsId| machine.rows.ancestors(rows).any(|above| above == chosen);
        // A score of some rows alone may be told beside that of all. If a model is fitted on such rows, there is no other.
        let models = || machine.infos.deps(&score.deps).filter(|dep| dep.kind == Kind::Model);
        let is_reported = |rows| !machine.seen.finals.is_empty() || models().any(|dep| among(rows, dep.from));
        if let Some((_, site)) = chosen.find(|(rows, _)| among(*rows, score.rows) && is_reported(*rows)) {
            let (cause, scored) = (self.line(*site), self.code(score.site));
            let text =
                format!("line {cause} chooses the rows that {scored} scores by how well they are predicted");
            self.add(Rule::ChosenOnScoredRows, *site, text);
        }
    }

    /// What is wrong with a score because of one thing that it depends on.
    fn dep(&mut self, score: &Score, dep: Dependency) {
        let seen = self.machine.rows.contains(dep.from, dep.on);
        let shared = self.machine.rows.overlap(dep.from, dep.on);
        let predicts = || !self.machine.infos.has_model(&score.deps);
        let (rule, does) = match dep.kind {
            Kind::Model => return self.model(score, dep),
            // Without a model, statistics of the target are the predictions.
            Kind::Target if !shared && predicts() => return self.model(score, dep),
            Kind::Target | Kind::Window if seen => {
                (Rule::TargetStatistics, format!("computes statistics of {}", target(self.machine)))
            }
            Kind::Selection if seen => {
                (Rule::SelectedBeforeSplit, format!("selects features by {}", target(self.machine)))
            }
            Kind::Unsupervised if seen => (Rule::UnsupervisedBeforeSplit, "learns".to_owned()),
            Kind::Answer(_) if seen => {
                (Rule::TargetAsFeature, format!("has {} among its features", target(self.machine)))
            }
            Kind::Stopping if shared => (Rule::StoppedOnScoredRows, "stops by the score".to_owned()),
            Kind::Choice(How::Number) if shared => {
                (Rule::ChosenOnScoredRows, "takes the threshold or weight with the best score".to_owned())
            }
            Kind::Choice(How::Steps) if shared => {
                (Rule::ChosenOnScoredRows, "takes in each step what has the best score".to_owned())
            }
            Kind::Choice(How::Seed) if shared => {
                (Rule::ChosenOnScoredRows, "takes the seed with the best score".to_owned())
            }
            Kind::Choice(How::Rounds) if shared && one_part(self.machine, dep.from) => {
                (Rule::ChosenOnScoredRows, "takes the number of rounds with the best score".to_owned())
            }
            Kind::Choice(How::Trials) if shared && one_part(self.machine, dep.from) => {
                (Rule::ChosenOnScoredRows, "takes the best of many trials".to_owned())
            }
            Kind::Choice(How::Model | How::Setting | How::Rounds | How::Trials) if shared => {
                (Rule::ChosenAmongModels, "takes the model with the best score".to_owned())
            }
            _ => return,
        };
        let (cause, scored) = (self.code(dep.site), self.code(score.site));
        let text = match dep.kind {
            Kind::Answer(_) => format!("{cause} {does}, and {scored} scores what it predicts with it"),
            _ => format!("{cause} {does} on rows that {scored} scores"),
        };
        self.add(rule, dep.site, text);
    }

    fn model(&mut self, score: &Score, dep: Dependency) {
        let rows = &self.machine.rows;
        if rows.overlap(dep.from, dep.on) {
            return self.seen_rows(score, dep);
        }
        let Some(common) = rows.common(dep.from, dep.on) else { return };
        if let Some(divisions) = rows.different_divisions(dep.from, dep.on) {
            return self.crossing(score, dep, divisions);
        }
        let separation = rows.separation(dep.from, dep.on);
        let Some((division, site)) = separation.and_then(|division| rows.division_of(division)) else {
            return;
        };
        // Copies of a row are in the same group, and fulfil the same condition.
        let parted =
            !matches!(division.kind, DivisionKind::Groups | DivisionKind::Condition | DivisionKind::Value);
        if let Some(repeated) = rows.repetition(common).filter(|_| parted) {
            let (cause, split) = (self.code(repeated), self.line(*site));
            let scored = self.code(score.site);
            let text = format!(
                "{cause} repeats or generates rows before line {split} splits them, so copies of rows that the model was \
                 fitted on are scored by {scored}"
            );
            self.add(Rule::ResampledBeforeSplit, repeated, text);
        }
        if let Some(windows) = rows.windows_of(common).filter(|_| division.kind.is_random()) {
            let (cause, split) = (self.code(windows), self.line(*site));
            let scored = self.code(score.site);
            let text = format!(
                "the windows of {cause} overlap, and line {split} divides them at random, so what the model was fitted on is in \
                 windows that are scored by {scored}"
            );
            self.add(Rule::SameRows, windows, text);
        }
        if division.kind.is_random() || division.kind == DivisionKind::Folds {
            self.kind_of_folds(*site, division.kind);
        }
    }

    /// Random folds although the facts, or the order of the rows, say otherwise.
    fn kind_of_folds(&mut self, site: Site, kind: DivisionKind) {
        let differ = match &self.machine.facts.split {
            Some(Split::Groups(column)) => Some(("other groups", column)),
            Some(Split::Time(column)) if kind.is_random() => Some(("later times", column)),
            _ => None,
        };
        let line = self.line(site);
        if let Some((differ, column)) = differ {
            let of = column.as_ref().map_or_else(String::new, |column| format!(" in `{column}`"));
            let text = format!("line {line} splits rows at random, although test rows have {differ}{of}");
            self.add(Rule::RowsInFoldsOfGroups, site, text);
        }
        if let Some((_, column)) = self.machine.seen.shuffled.iter().find(|(shuffled, _)| *shuffled == site) {
            let text = format!("line {line} shuffles rows that are sorted by `{column}`");
            self.add(Rule::ShuffledTime, site, text);
        }
    }

    /// The model was fitted on rows that are scored.
    fn seen_rows(&mut self, score: &Score, dep: Dependency) {
        let (fit, scored) = (self.code(dep.site), self.code(score.site));
        let (rule, site, text) = match brought_together(self.machine, dep.from, dep.on) {
            Some(site) => {
                let cause = self.code(site);
                (Rule::SameRows, site, format!("by {cause}, {fit} and {scored} have the same rows"))
            }
            None if !self.fits.insert(dep.site) => return,
            None => {
                let text = format!("{scored} scores rows that the model was fitted on by {fit}");
                // A model that is fitted on more rows than those that are scored is fitted on too many.
                let rows = &self.machine.rows;
                let more = dep.from != dep.on && !rows.contains(dep.on, dep.from);
                (Rule::ScoredOnTrainingRows, if more { dep.site } else { score.site }, text)
            }
        };
        self.add(rule, site, text);
    }

    /// Whether what a model was fitted on is all that is known of the scores of this model.
    fn is_only(&self, fit: Dependency) -> bool {
        let other = |dep: Dependency| {
            let choice = self.machine.overlapping_choice(dep.from, dep.on);
            dep.kind == Kind::Model && dep.site == fit.site && !choice.is_some_and(|(_, within)| within)
        };
        let mut scores = self.reported.iter();
        !scores.any(|(score, _)| self.machine.infos.deps(&score.deps).any(other))
    }

    /// Training and validation rows come from two different divisions of the same rows.
    fn crossing(&mut self, score: &Score, dep: Dependency, (one, other): (DivisionId, DivisionId)) {
        let divisions = self.machine.rows.division_of(one).zip(self.machine.rows.division_of(other));
        let Some(((left, _), (right, site))) = divisions else { return };
        let drawn =
            |key: &str| key.strip_prefix("drawn ").and_then(|key| key.split(' ').next().map(str::to_owned));
        let at_once = drawn(&left.key).is_some_and(|one| drawn(&right.key) == Some(one));
        let overlapping = left.kind.is_random() && right.kind.is_random() && !at_once;
        // Without a final line, a score of some training rows may be told beside that of others.
        let told = |within: bool| !within || !self.machine.seen.finals.is_empty() || self.is_only(dep);
        let choice = self.machine.overlapping_choice(dep.from, dep.on);
        if let Some((choice, _)) = choice.filter(|(_, within)| told(*within)) {
            let (fit, scored) = (self.code(dep.site), self.code(score.site));
            let text = format!("the rows of {fit} and of {scored} are chosen so that some are in both");
            self.add(Rule::SameRows, choice, text);
        }
        if overlapping {
            let (fit, scored) = (self.code(dep.site), self.code(score.site));
            let text = format!("the rows of {fit} and of {scored} are drawn apart, so some are the same");
            self.add(Rule::SameRows, *site, text);
        }
    }

    fn line(&self, site: Site) -> u32 {
        self.lines.line(site.expression)
    }

    /// The beginning of the code at a place, with its line.
    fn code(&self, site: Site) -> String {
        let line = self.machine.text(site.expression).lines().next().unwrap_or_default().trim_end();
        let mut code: String = line.chars().take(60).collect();
        if code.len() < self.machine.text(site.expression).len() {
            code.push('…');
        }
        format!("`{code}` in line {}", self.line(site))
    }

    fn add(&mut self, rule: Rule, site: Site, text: String) {
        if site == Site::default() {
            // The place is not known.
            return;
        }
        let range = site.expression;
        let (line, column) = self.lines.position(range.start().to_usize());
        let (end_line, end_column) = self.lines.position(range.end().to_usize());
        let finding = Finding {
            rule,
            line,
            column,
            end_line,
            end_column,
            block: site.statement.to_std_range(),
            text,
            instead: rule.instead().to_owned(),
        };
        let place = (rule, range.start().to_usize(), range.end().to_usize());
        self.found.entry(place).or_insert(finding);
    }
}

/// The target in words.
fn target(machine: &Machine<'_>) -> String {
    let names: Vec<String> = machine.targets.iter().take(3).map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "the target".to_owned() } else { format!("the target {}", names.join(", ")) }
}

/// The place where rows were put together that were apart before: validation rows joined to training rows, or a sample that
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
    // A sample that stays in the table it was drawn from.
    match rows.origin(on) {
        Origin::Part { of, division, .. } if *of == from => {
            let (division, site) = rows.division_of(*division)?;
            (division.key.starts_with("sample")).then_some(*site)
        }
        _ => None,
    }
}

/// Whether a function that the script does not call itself, such as a callback, names what is printed.
fn set_elsewhere(machine: &Machine<'_>, line: Site) -> bool {
    let split = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let printed: Vec<&str> =
        machine.text(line.expression).split(split).filter(|word| !is_common(word)).collect();
    let uncalled = (0..machine.functions.len()).filter(|function| !machine.calls.called.contains(function));
    uncalled
        .filter_map(|function| machine.body_text(function))
        .any(|text| printed.iter().any(|name| text.contains(name)))
}

/// Words of a line with the score that name no variable.
const COMMON: &str = "print f format Final Validation Performance round float str self";

/// Whether a word of a line with the score names no variable.
fn is_common(word: &str) -> bool {
    let number = word.starts_with(|letter: char| letter.is_ascii_digit());
    number || word.is_empty() || names::is_one(COMMON, word)
}

/// Whether rows come from single divisions only, such as a train-test split, and from no folds.
fn one_part(machine: &Machine<'_>, rows: RowsId) -> bool {
    let mut parts = machine.rows.ancestors(rows).filter_map(|above| match machine.rows.origin(above) {
        Origin::Part { division, .. } => machine.rows.division_of(*division),
        _ => None,
    });
    let first = parts.next();
    let single = |division: &crate::rows::Division| {
        let kind = division.kind;
        matches!(
            kind,
            DivisionKind::Random | DivisionKind::Position | DivisionKind::Condition | DivisionKind::Value
        )
    };
    first.is_some_and(|(division, _)| single(division)) && parts.all(|(division, _)| single(division))
}

/// Whether a printed value is a constant or drawn at random.
fn is_constant(value: &Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) => true,
        Value::Number(number) => {
            let Number { random, truth, scores, .. } = &**number;
            (*random || *truth) && *scores == Scores::default()
        }
        _ => false,
    }
}
