//! A run that goes on with a larger limit: what its new work may change.
//!
//! What a limit cut is done now, and may come out better than what the run built on instead. It takes its place only if
//! it is better than all that the run had before; otherwise the paid work stands, and the new solution is one more to
//! combine and to choose from.

use super::Ctx;
use crate::journal::{Line, Standing};
use crate::result::{Cut, FinalResult};
use crate::solution::Scored;
use crate::stop::Stop;
use crate::verdict::Lineage;

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

    /// As [`Ctx::rest_on`], for texts of any kind.
    pub(crate) fn rest_on_texts(&self, line: Line, texts: &[&str]) -> Result<(), Stop> {
        if self.run.journal.rest_on(line, texts)? {
            *super::lock(&self.run.failures) = self.run.journal.failures()?;
            self.info("what this part was made from has changed with the larger limit, so it is made again");
        }
        Ok(())
    }

    /// The solutions that the run builds on: all, unless some came with a larger limit and none of those is better than
    /// what the run had before.
    pub(crate) fn to_build_on(&self, solutions: Vec<Scored>) -> Result<Vec<Scored>, Stop> {
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
    pub(crate) fn may_build_on(&self, solution: &Scored) -> Result<bool, Stop> {
        Ok(self.run.journal.standing(solution.place(), solution.score())? != Standing::Below)
    }
}
