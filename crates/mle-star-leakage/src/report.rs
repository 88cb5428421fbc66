//! Turns what the interpreter saw into findings: what all rules ask.

use std::collections::BTreeMap;

use crate::allow::Comment;
use crate::finding::Finding;
use crate::info::{Dependency, Kind, Score};
use crate::machine::Machine;
use crate::reported::{Reported, reported_scores};
use crate::rows::{DivisionKind, RowsId};
use crate::rules::Rule;
use crate::site::Site;
use crate::source::Lines;

/// The place of a cause, and how the data comes from there to the score.
pub(crate) type Cause = (Site, String);

/// What is known of a script that was followed to its end.
pub(crate) struct Report<'a> {
    pub(crate) machine: &'a Machine<'a>,
    /// The scores that it reports.
    pub(crate) scores: &'a [Reported],
    /// Its comments that allow findings.
    pub(crate) comments: &'a [Comment<'a>],
    /// What these depend on.
    dependencies: Vec<(&'a Score, Dependency)>,
    lines: Lines<'a>,
}

/// The findings of a script that was followed to its end: one for each rule and place.
pub(crate) fn findings(machine: &mut Machine<'_>, comments: &[Comment<'_>]) -> Vec<Finding> {
    let scores = reported_scores(machine);
    let lines = Lines::new(machine.source);
    let dependencies = dependencies(machine, &scores);
    let report = Report { machine, scores: &scores, dependencies, comments, lines };
    let mut found = BTreeMap::new();
    for rule in Rule::ALL {
        for (site, text) in rule.find(&report) {
            // Otherwise, the place is not known.
            if site != Site::default() {
                let (start, end) = report.ends(site);
                found.entry((start, rule, end)).or_insert_with(|| Finding {
                    rule,
                    line: start.0,
                    column: start.1,
                    end_line: end.0,
                    end_column: end.1,
                    block: site.statement.to_std_range(),
                    text,
                    instead: rule.instead().to_owned(),
                });
            }
        }
    }
    found.into_values().collect()
}

/// What reported scores depend on. Of what else a printed number depends on, choices count.
fn dependencies<'a>(machine: &'a Machine<'_>, scores: &'a [Reported]) -> Vec<(&'a Score, Dependency)> {
    let infos = &machine.infos;
    let of = |(score, more): &'a Reported| {
        let choices = infos.deps(more).filter(|dep| matches!(dep.kind, Kind::Choice(_)));
        let choices = choices.map(|dep| Dependency { on: score.rows, ..dep });
        infos.deps(&score.deps).chain(choices).map(move |dep| (score, dep))
    };
    scores.iter().flat_map(of).collect()
}

impl<'a> Report<'a> {
    /// What the reported scores depend on, with the scores.
    pub(crate) fn dependencies(&self) -> impl Iterator<Item = (&'a Score, Dependency)> {
        self.dependencies.iter().copied()
    }

    /// The fits that the predictions of reported scores come from. Without a model, statistics of the target of other rows
    /// are the predictions.
    pub(crate) fn fits(&self) -> impl Iterator<Item = (&'a Score, Dependency)> {
        self.dependencies().filter(|(score, dep)| match dep.kind {
            Kind::Model => true,
            Kind::Target => !self.sees_some(*dep) && !self.machine.infos.has_model(&score.deps),
            _ => false,
        })
    }

    /// The one division that separates the rows of a fit from those that are scored: the rows that it divides, its kind, and
    /// its place.
    pub(crate) fn division(&self, fit: Dependency) -> Option<(RowsId, DivisionKind, Site)> {
        let rows = &self.machine.rows;
        if rows.overlap(fit.from, fit.on) || rows.different_divisions(fit.from, fit.on).is_some() {
            return None;
        }
        let (division, site) = rows.division_of(rows.separation(fit.from, fit.on)?);
        Some((rows.common(fit.from, fit.on)?, division.kind, *site))
    }

    /// The places where rows are divided for reported scores, not by groups or times.
    pub(crate) fn folds(&self) -> impl Iterator<Item = (Site, DivisionKind)> {
        let divisions = self.fits().filter_map(|(_, fit)| self.division(fit));
        let folds = divisions.filter(|(_, kind, _)| kind.is_random() || *kind == DivisionKind::Folds);
        folds.map(|(_, kind, site)| (site, kind))
    }

    /// Whether all rows that are scored are among those that something was learnt from.
    pub(crate) fn sees_all(&self, dep: Dependency) -> bool {
        self.machine.rows.contains(dep.from, dep.on)
    }

    /// Whether some row that is scored is among those that something was learnt from.
    pub(crate) fn sees_some(&self, dep: Dependency) -> bool {
        self.machine.rows.overlap(dep.from, dep.on)
    }

    /// The places that do something, which `does` says in words, on rows that are scored.
    pub(crate) fn on_scored_rows<'d>(&self, does: impl Fn(Dependency) -> Option<&'d str>) -> Vec<Cause> {
        let cause = |(score, dep): (&Score, Dependency)| {
            let (does, cause, scored) = (does(dep)?, self.code(dep.site), self.code(score.site));
            Some((dep.site, format!("{cause} {does} on rows that {scored} scores")))
        };
        self.dependencies().filter_map(cause).collect()
    }

    /// The target in words.
    pub(crate) fn target(&self) -> String {
        let names: Vec<String> =
            self.machine.targets.iter().take(3).map(|name| format!("`{name}`")).collect();
        if names.is_empty() { "the target".to_owned() } else { format!("the target {}", names.join(", ")) }
    }

    /// The line of a place.
    pub(crate) fn line(&self, site: Site) -> u32 {
        self.lines.line(site.expression)
    }

    /// The beginning of the code at a place, with its line.
    pub(crate) fn code(&self, site: Site) -> String {
        let line = self.machine.text(site.expression).lines().next().unwrap_or_default().trim_end();
        let mut code: String = line.chars().take(60).collect();
        if code.len() < self.machine.text(site.expression).len() {
            code.push('…');
        }
        format!("`{code}` in line {}", self.line(site))
    }

    /// The lines and columns of the ends of a place.
    fn ends(&self, site: Site) -> ((u32, u32), (u32, u32)) {
        let position = |end: ruff_text_size::TextSize| self.lines.position(end.to_usize());
        (position(site.expression.start()), position(site.expression.end()))
    }
}
