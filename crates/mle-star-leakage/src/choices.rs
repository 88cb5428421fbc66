//! Choices by scores: what differs between the candidates.

use ruff_text_size::TextRange;

use crate::info::{Dependencies, Dependency, How, Kind, Score, Scores};
use crate::machine::Machine;
use crate::site::Site;
use crate::value::Value;

impl Machine<'_> {
    /// The choice that is made by comparing these values, if they are scores of candidates.
    pub(crate) fn choice(&mut self, values: &[Value], site: TextRange) -> Dependencies {
        let scores: Scores = values.iter().map(|value| self.scores_of(value, 3)).collect();
        if scores.is_empty() {
            return Dependencies::default();
        }
        let scores: Vec<Score> = self.infos.scores(&scores).cloned().collect();
        let place = Site { expression: site, statement: self.nesting.search.unwrap_or(self.statement) };
        let kind = match self.how(&scores) {
            Some(How::Model) | None if self.chosen_again(&scores, place) => Kind::Choice(How::Number),
            Some(How::Features) if self.chosen_again(&scores, place) => Kind::Choice(How::Steps),
            Some(How::Features) => Kind::Choice(How::Setting),
            // Which score is the reported one has to be known: those of the steps are often printed, too.
            Some(How::Setting) if self.reports_a_score() && self.chosen_again(&scores, place) => {
                Kind::Choice(How::Number)
            }
            // A model that stops early takes the best round, which is common practice.
            Some(How::Rounds) if self.depends(&scores, |dep| dep.kind == Kind::Stopping) => Kind::Stopping,
            Some(how) => Kind::Choice(how),
            None => match self.trained_on(&scores) {
                Some(kind) => kind,
                None => return Dependencies::default(),
            },
        };
        let mut choices = Dependencies::default();
        for score in scores {
            choices = choices.and(&self.infos.learn(kind, place, score.rows));
        }
        choices
    }

    /// Whether candidates have what was chosen here before, so that this is a search step by step.
    fn chosen_again(&self, scores: &[Score], place: Site) -> bool {
        let again = |dep: &Dependency| {
            matches!(dep.kind, Kind::Choice(How::Model | How::Setting | How::Steps | How::Number))
                && dep.site == place
        };
        self.depends(scores, again)
    }

    fn depends(&self, scores: &[Score], is: impl Fn(&Dependency) -> bool) -> bool {
        scores.iter().any(|score| self.infos.any(&score.deps, &is))
    }

    /// The choice among the states of one model that a loop trains further, if the scores are those.
    fn trained_on(&self, scores: &[Score]) -> Option<Kind> {
        let loops = |score: &Score| {
            let deps = self.infos.deps(&score.deps);
            deps.filter(|dep| dep.kind == Kind::Candidate(How::Epoch))
                .map(|dep| dep.site.expression)
                .collect::<Vec<_>>()
        };
        let first = loops(scores.first()?);
        let here = |range: &TextRange| {
            self.nesting.listed == Some(*range)
                || self.nesting.around.iter().any(|around| around.range == *range)
        };
        let common = first.into_iter().filter(here);
        let mut common = common.filter(|range| scores.iter().all(|score| loops(score).contains(range)));
        let range = common.next()?;
        // A loop that ends early stops by the score, which is common practice.
        Some(if self.syntax.breaks.are_in(range) { Kind::Stopping } else { Kind::Choice(How::Rounds) })
    }

    /// How the candidates differ that have these scores.
    fn how(&self, scores: &[Score]) -> Option<How> {
        let models: Vec<Vec<Site>> = scores.iter().map(|score| self.models(score)).collect();
        let first = models.first()?;
        let differ = models.iter().skip(1).any(|other| other != first && !other.is_empty());
        let candidates: Vec<Vec<(How, Site)>> = scores.iter().map(|score| self.candidates(score)).collect();
        let shared = |one: &(How, Site)| candidates.iter().all(|others| others.contains(one));
        // A first score may be that of no candidate. Finished models of different kinds are no candidates of one search.
        let counts = |one: &&(How, Site)| !differ || shared(one);
        let all: Vec<How> = candidates.iter().flatten().filter(counts).map(|(how, _)| *how).collect();
        let Some(how) = all.iter().max() else { return differ.then_some(How::Model) };
        // Rounds are one of several settings.
        let several = *how == How::Rounds && all.iter().any(|how| *how < How::Rounds);
        Some(if several { How::Setting } else { *how })
    }

    /// Where the models were made that predicted for a score.
    fn models(&self, score: &Score) -> Vec<Site> {
        let deps = self.infos.deps(&score.deps);
        let models = deps.filter(|dep| dep.kind == Kind::Model).map(|dep| dep.made);
        let mut models: Vec<Site> = models.collect();
        models.sort();
        models.dedup();
        models
    }

    fn candidates(&self, score: &Score) -> Vec<(How, Site)> {
        let deps = self.infos.deps(&score.deps);
        let candidates = deps.filter_map(|dep| match dep.kind {
            Kind::Candidate(how) if !how.is_open() && how != How::Epoch => Some((how, dep.site)),
            _ => None,
        });
        candidates.collect()
    }
}
