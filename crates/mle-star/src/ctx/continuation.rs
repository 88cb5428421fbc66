//! A run that goes on with a larger limit: what its new work may change.
//!
//! The steps that the old limit cut off are done now. Their solutions may be better than those that the run built on
//! instead, and take their place only if they are better than all that the run had before ([`Standing`]). Otherwise the
//! earlier work stands, and the new solutions are further ones to combine and to choose from.
//!
//! A [`Line`] is a part of the run whose steps follow from each other, such as a refinement path.

use mle_star_domain::answers::RetrievedModel;
use mle_star_domain::metric::sort_best_first;

use super::Ctx;
use crate::evaluation::{Evaluation, Judged};
use crate::journal::Standing;
use crate::result::{Cut, FinalResult};
use crate::scored::Scored;
use crate::stop::Stop;
use crate::verdict::Lineage;
use mle_star_domain::place::Line;

impl Ctx<'_> {
    /// Declares the solutions that a line is made from, before its first step. If they are others than before a larger
    /// limit, the records of the line are set aside.
    pub(crate) fn rest_on<'s>(
        &self,
        line: Line,
        solutions: impl IntoIterator<Item = &'s Scored>,
    ) -> Result<(), Stop> {
        self.rest_on_texts(line, &solutions.into_iter().map(Scored::text).collect::<Vec<_>>())
    }

    /// Declares the texts that a line is made from, as [`Ctx::rest_on`] does with solutions.
    pub(crate) fn rest_on_texts(&self, line: Line, texts: &[&str]) -> Result<(), Stop> {
        if self.run.journal.rest_on(line, texts)? {
            *super::lock(&self.run.failures) = self.run.journal.failures()?;
            self.info("what this part was made from has changed with the larger limit, so it is made again");
        }
        Ok(())
    }

    /// The candidates to merge, best first: the first one, and the others. Without one that runs, the run ends.
    pub(crate) fn best_first(
        &self,
        models: &[RetrievedModel],
        candidates: &[Evaluation],
    ) -> Result<(Scored, Vec<Scored>), Stop> {
        let mut ranked: Vec<Scored> = candidates.iter().filter_map(|one| one.scored.clone().ok()).collect();
        sort_best_first(&mut ranked, Scored::score);
        // Solutions that validated on the program's folds come first: scores on other rows cannot be compared with theirs.
        ranked.sort_by_key(|one| !one.is_on_folds());
        let one = |scored: &Scored| {
            let model = scored.solution().source_model().unwrap_or_default();
            format!("{model} {}", scored.score().value())
        };
        self.info(format!(
            "candidates, best first: {}",
            ranked.iter().map(one).collect::<Vec<_>>().join(", ")
        ));
        let mut ranked = self.to_build_on(ranked)?;
        self.rest_on(Line::Merges, &ranked)?;
        if ranked.is_empty() {
            return Err(self.no_candidate(models, candidates.len())?);
        }
        Ok((ranked.remove(0), ranked))
    }

    /// Why a run ends none of whose candidates runs.
    fn no_candidate(&self, models: &[RetrievedModel], count: usize) -> Result<Stop, Stop> {
        if let Some(limit) = self.limit_reached()? {
            return Ok(Stop::Limit(limit));
        }
        let names: Vec<&str> = models.iter().map(|model| model.model_name.as_str()).collect();
        self.warn(format!("no candidate runs: {}", names.join(", ")));
        Ok(Stop::NoSolution(format!("Phase 1 failed: all {count} candidates produced execution errors")))
    }

    /// The merged solution, and whether it takes the place of `best`: by the rule of the configuration, and if the run may
    /// build on it.
    pub(crate) fn judged(&self, merged: Evaluation, best: &Scored) -> Result<Judged, Stop> {
        let accepted = match &merged.scored {
            Ok(merged) => merged.replaces(best, self.config().acceptance) && self.may_build_on(merged)?,
            Err(_) => false,
        };
        Ok(Judged { evaluation: merged, accepted })
    }

    /// The solutions that the run builds on: all, unless some came with a larger limit and none of those is better than
    /// what the run had before.
    fn to_build_on(&self, solutions: Vec<Scored>) -> Result<Vec<Scored>, Stop> {
        let standing = |one: &Scored| self.run.journal.standing(one.place(), one.score());
        let standings = solutions.iter().map(standing).collect::<Result<Vec<_>, _>>()?;
        if standings.contains(&Standing::Above) {
            return Ok(solutions);
        }
        let are_early = solutions.into_iter().zip(standings).filter(|(_, one)| *one == Standing::Early);
        Ok(are_early.map(|(solution, _)| solution).collect())
    }

    /// What limits cut or skipped, by step.
    pub(crate) fn cuts(&self) -> Result<Vec<Cut>, Stop> {
        Ok(self.run.journal.cuts()?)
    }

    /// Whether the run still has the solution of a step of an earlier result: the step ended before a limit was raised, with
    /// this score.
    pub(crate) fn still_has(&self, known: &Lineage) -> Result<bool, Stop> {
        let Some(step) = known.place.step() else { return Ok(false) };
        let is_same = self.lineage(step).last().is_some_and(|now| now.score == known.score);
        Ok(is_same && self.run.journal.is_from_before(step)?)
    }

    /// The result before a limit was raised.
    pub(crate) fn earlier_result(&self) -> Result<Option<FinalResult>, Stop> {
        Ok(self.run.journal.earlier_result()?)
    }

    /// Whether the run may build on this solution, which its rule accepts.
    fn may_build_on(&self, solution: &Scored) -> Result<bool, Stop> {
        Ok(self.run.journal.standing(solution.place(), solution.score())? != Standing::Below)
    }
}
