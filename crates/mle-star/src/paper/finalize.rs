//! Section 3.4 of the MLE-STAR paper: a solution without subsampling (Figures 26 and 27).

use crate::agents::test_agent::{self, Subsampling};
use crate::ctx::Ctx;
use crate::solution::Solution;
use crate::stop::Stop;
use crate::time_plan::TimePlan;

/// The solution without its subsampling, if an agent finds any, and whether it is known to use as many rows as the time
/// allows: it is not if the agents gave no clear answer. `seconds` is how long the whole script runs, which may combine
/// several solutions.
pub(crate) async fn without_subsampling(
    ctx: &Ctx<'_>,
    solution: &Solution,
    seconds: f64,
) -> Result<(Solution, bool), Stop> {
    if let Some(why) = test_agent::subsampling_check_unneeded(ctx)? {
        ctx.info(format!("no subsampling is looked for: {why}"));
        return Ok((solution.clone(), true));
    }
    let found = test_agent::find_subsampling(ctx, solution).await?;
    let Subsampling::Block(block) = found else {
        ctx.info("no subsampling is removed");
        return Ok((solution.clone(), matches!(found, Subsampling::None)));
    };
    let time = TimePlan::for_more_rows(ctx, seconds).await?;
    let removed = test_agent::remove_subsampling(ctx, solution, &block, time).await?;
    let Some(replaced) = removed else { return Ok((solution.clone(), false)) };
    let fits_no_more = time.is_some() && replaced == *solution;
    Ok((replaced, fits_no_more))
}
