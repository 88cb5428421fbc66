//! Time plans: how long a later run may take. A plan depends on the clock, so it is recorded, and a resume keeps it.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::journal::{Entry, Outcome};
use crate::record::Kind;
use crate::stop::Stop;
use mle_star_domain::place::Name;

/// The time of a later run, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TimePlan {
    /// The time that it took before.
    pub seconds: f64,
    /// The time that it may take.
    pub allowed: f64,
    /// How much longer than before a probe is expected to take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer: Option<f64>,
}

impl TimePlan {
    /// The time for a probe of a solution that took this many seconds before, and is expected to take so much longer.
    pub async fn for_probe(ctx: &Ctx<'_>, seconds: f64, longer: f64) -> Result<Self, Stop> {
        let allowed = ctx.run.limits.probe_time(ctx.place(), ctx.run.journal.elapsed());
        Self { seconds, allowed, longer: Some(longer) }.within_limit(ctx).await
    }

    /// The time for the script of the answer so far. The best one took this many seconds before.
    pub async fn for_provisional(ctx: &Ctx<'_>, seconds: f64) -> Result<Self, Stop> {
        let allowed = ctx.run.limits.provisional_time(ctx.place(), ctx.run.journal.elapsed());
        Self { seconds, allowed, longer: None }.within_limit(ctx).await
    }

    /// The time for a script that makes the submission again, which took this many seconds before.
    pub async fn for_model(ctx: &Ctx<'_>, seconds: f64) -> Result<Self, Stop> {
        let allowed = ctx.run.limits.max_submission_seconds(ctx.run.journal.elapsed());
        Self { seconds, allowed, longer: None }.within_limit(ctx).await
    }

    /// The time for a submission script that repeats a run of this many seconds with more rows; `None` if the agents are told
    /// nothing about time.
    pub async fn for_more_rows(ctx: &Ctx<'_>, seconds: f64) -> Result<Option<Self>, Stop> {
        if !ctx.tells_more() {
            return Ok(None);
        }
        let allowed = ctx.run.limits.max_submission_seconds(ctx.run.journal.elapsed());
        // With more time, the same solution keeps its plan, and so its submission script.
        let plan = Self { seconds, allowed, longer: None };
        plan.recorded(ctx, &json!({"seconds": seconds})).await.map(Some)
    }

    /// The plan, or the one that was made at this place with the same time limit: with more time, what was left out may run.
    async fn within_limit(self, ctx: &Ctx<'_>) -> Result<Self, Stop> {
        let limit = ctx.config().time_limit_seconds;
        self.recorded(ctx, &json!({"seconds": self.seconds, "time_limit_seconds": limit})).await
    }

    /// The plan, or the one that was made at this place before.
    async fn recorded(self, ctx: &Ctx<'_>, input: &Value) -> Result<Self, Stop> {
        let place = ctx.place().named(Name::Plan);
        let entry = Entry::new(&place, Kind::Probe, input, &json!({}))?;
        Ok(ctx.run.journal.once(entry, async { Ok(self) }).await?.value)
    }

    /// Why a script that took this many seconds before does not run; `None` if it may.
    pub fn refusal(&self, seconds: f64) -> Option<String> {
        let (expected, allowed) = (seconds * self.longer.unwrap_or(1.0), self.allowed);
        let why =
            || format!("it would take about {expected:.1} s, and its share of the time is {allowed:.1} s");
        (expected > allowed).then(why)
    }
}

impl Outcome for TimePlan {}
