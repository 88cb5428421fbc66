//! The evaluation protocol of a run: what scripts see, what prompts say about validation, and the scores of held-out
//! rows.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Ctx;
use crate::event::Event;
use crate::findings::{CodeFinding, Findings};
use crate::journal::{Entry, Outcome};
use crate::python::may_sample;
use crate::record::Kind;
use crate::scored::Scored;
use crate::solution::Solution;
use crate::stop::Stop;
use mle_star_domain::effects::{
    Agreement, AgreementRequest, CombinationRequest, CombinedBy, Comparison, ComparisonRequest, DataView,
    Look, LookRequest, Member, Purpose, Refit, RefitRequest, ScriptOutcome, Selection, SelectionRequest,
};
use mle_star_domain::measure::Measurement;
use mle_star_domain::place::{Name, Place, Step};
use mle_star_domain::protocol::{Detail, Holdout, HoldoutPart, Period, Protocol, Shift};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::trust::{Finding, Severity};

/// The time of a later run, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TimePlan {
    /// What it took before.
    pub seconds: f64,
    /// What it may take.
    pub allowed: f64,
    /// How much longer than before a probe is expected to take; `None` in journals of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longer: Option<f64>,
}

impl TimePlan {
    /// A plan for a run that is expected to take as long as before.
    pub fn new(seconds: f64, allowed: f64) -> Self {
        Self { seconds, allowed, longer: None }
    }

    /// Whether it says how much longer a probe takes.
    pub fn knows_longer(&self) -> bool {
        self.longer.is_some()
    }

    /// Whether a script that took this many seconds before may run.
    pub fn has_room_for(&self, seconds: f64) -> bool {
        seconds * self.longer.unwrap_or(1.0) <= self.allowed
    }

    /// Why a probe does not run with a script that took this many seconds before.
    pub fn refusal(&self, seconds: f64) -> String {
        let expected = seconds * self.longer.unwrap_or(1.0);
        format!(
            "it would take about {expected:.1} s, and its share of the time that is left is {:.1} s",
            self.allowed
        )
    }
}

impl Outcome for TimePlan {}

/// The places of compared solutions, the best first.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ranking {
    places: Vec<usize>,
}

impl Outcome for Ranking {}

impl Outcome for Refit {}

impl Outcome for Comparison {}

impl Outcome for Agreement {}

impl<'a> Ctx<'a> {
    /// How solutions are evaluated; `None` for the paper's way.
    pub(crate) fn protocol(&self) -> Option<&'a Protocol> {
        self.run.protocol.filter(|protocol| !protocol.is_papers)
    }

    /// What the program knows of scores; `None` if it knows nothing.
    pub(crate) fn known(&self) -> Option<&'a Protocol> {
        self.run.protocol
    }

    /// Whether the program can compute scores itself from a script's predictions.
    pub(crate) fn verifies(&self) -> bool {
        self.run.protocol.is_some_and(|protocol| protocol.verifies)
    }

    /// Whether rows are held out from the scripts of the search.
    pub(crate) fn holds_out(&self) -> bool {
        self.run.protocol.is_some_and(|protocol| protocol.holdout.is_on())
    }

    /// Whether there are so many held-out rows that one half can choose and the other half still reports well.
    pub(crate) fn divides_holdout(&self) -> bool {
        const FEWEST: u64 = 2_000;
        self.run.protocol.and_then(|protocol| protocol.holdout.rows()).is_some_and(|rows| rows >= FEWEST)
    }

    /// Whether scripts of the search predict an earlier period instead of the rows of the test table.
    pub(crate) fn predicts_period(&self) -> bool {
        self.run.protocol.is_some_and(|protocol| protocol.holdout.is_period())
    }

    /// The period that scripts of the search predict, if it is known.
    pub(crate) fn predicted_period(&self) -> Option<&'a Period> {
        let protocol = self.run.protocol.filter(|protocol| protocol.holdout.is_period())?;
        protocol.periods.as_ref()?.held_out.as_ref()
    }

    /// The scripts of the program's own solutions; none for the paper's way.
    pub(crate) fn baselines(&self) -> &'a [String] {
        self.run.protocol.map(|protocol| protocol.baselines.as_slice()).unwrap_or_default()
    }

    /// The seconds that the runs of these scripts took, as the journal has them.
    pub(crate) fn baseline_seconds(&self) -> Result<Vec<f64>, Stop> {
        let is_one = |step| matches!(step, Some(Step::Baseline(_)));
        let runs = self.ledger()?.into_iter().filter(|run| run.kind == Kind::Script && run.counts());
        let runs = runs.filter(|run| is_one(run.place.step()));
        Ok(runs.filter_map(|run| Some(run.elapsed_ended? - run.elapsed_begun)).collect())
    }

    /// Whether the labels of the test table are known to the program.
    pub(crate) fn knows_test(&self) -> bool {
        self.run.protocol.is_some_and(|protocol| protocol.holdout.is_test())
    }

    /// How training and test table differ; `None` if they were not compared.
    pub(crate) fn shift(&self) -> Option<&'a Shift> {
        self.run.shift.get()
    }

    /// Adds the columns that scripts must not use to an agent's inputs, if there are any.
    pub(crate) fn name_suspicious_columns(&self, inputs: &mut Value) {
        let suspicious = self.shift().map(|shift| shift.suspicious.as_slice()).unwrap_or_default();
        if !suspicious.is_empty() {
            let names: Vec<&str> = suspicious.iter().map(|found| found.column.as_str()).collect();
            inputs["suspicious_columns"] = json!(names);
        }
    }

    /// This place, with scripts that see the original files. The script ran for so many seconds without the held-out rows,
    /// if it did.
    #[must_use]
    pub(crate) fn on_all_rows(&self, rehearsed: Option<f64>) -> Self {
        Self { data: DataView::Whole, built_on: rehearsed, ..self.clone() }
    }

    /// Scores the predictions for held-out rows in the submission that `script` wrote at `run`.
    pub(crate) async fn look(
        &self,
        run: &Place,
        script: &str,
        part: HoldoutPart,
    ) -> Result<Option<Measurement>, Stop> {
        let place = self.place.named(Name::Look(part));
        let input = json!({"run": run, "script": script, "part": part, "held_out": self.holdout_digest()});
        let entry = Entry::new(&place, Kind::Look, &input, &json!({"run": run, "part": part}))?;
        self.fence_unless_recorded(&entry)?;
        let request = LookRequest { place: place.clone(), run: run.clone(), script: script.to_owned(), part };
        let look = self.or_interrupted(self.run.outside.scripts.look(&request));
        let look = self.run.journal.once(entry, async { look.await? }).await?;
        let Look { measured, failure } = look.value;
        if measured.is_none() {
            self.warn(format!("the predictions of {run} for held-out rows have no score: {failure}"));
        }
        let score = measured.as_ref().map(|measured| measured.score);
        let (run, replayed) = (run.clone(), look.replayed);
        self.emit(Event::Look { place, run, part, score, replayed });
        Ok(measured)
    }

    /// Whether an earlier process scored predictions for this part of the held-out rows at this place.
    pub(crate) fn has_looked(&self, part: HoldoutPart) -> Result<bool, Stop> {
        Ok(self.run.journal.has_any(&self.place.named(Name::Look(part)), Kind::Look)?)
    }

    /// What `examine` finds in a script before its run at this place, the first time or after a correction.
    ///
    /// Findings are recorded, so that a resume with other rules does not judge again. No finding is no record.
    pub(crate) async fn findings(
        &self,
        round: u32,
        solution: &Solution,
        examine: impl Fn(&str) -> Findings,
    ) -> Result<Findings, Stop> {
        let (place, run) = (self.place.named(Name::Gate(round)), self.place.named(Name::Run));
        let journal = self.run.journal;
        let is_judged = journal.has_any(&place, Kind::Gate)?;
        if !is_judged && journal.has_any(&run, Kind::Script)? {
            return Ok(Findings::default());
        }
        let found = if is_judged { Findings::default() } else { examine(solution.text()) };
        if !is_judged && found.found.is_empty() {
            return Ok(found);
        }
        let entry = Entry::new(&place, Kind::Gate, &json!({"script": solution.text()}), &json!({}))?;
        let findings = self.run.journal.once(entry, async { Ok::<_, Stop>(found) }).await?;
        for CodeFinding { rule, severity, line, text, block, .. } in &findings.value.found {
            let (rule, text) = (rule.clone(), text.clone());
            let finding = Finding { rule, severity: *severity, place: run.clone(), line: *line, text };
            // Most scripts are made from others, and would repeat their warnings.
            if self.is_news(&finding, block) || finding.severity == Severity::Block {
                self.emit(Event::Finding { finding, replayed: findings.replayed });
            }
        }
        Ok(findings.value)
    }

    /// What the program found in the scripts that count now: every leak, and what is worth a look in those of these runs.
    pub(crate) fn findings_of(&self, runs: &[&Place]) -> Result<Vec<Finding>, Stop> {
        let mut findings = Vec::new();
        for record in
            self.run.journal.effects()?.into_iter().filter(|one| one.kind == Kind::Gate && one.counts())
        {
            let run = record.place.parent().named(Name::Run);
            let found = record.outcome.and_then(|outcome| serde_json::from_value::<Findings>(outcome).ok());
            let finding = |CodeFinding { rule, severity, line, text, .. }| Finding {
                rule,
                severity,
                place: run.clone(),
                line,
                text,
            };
            findings.extend(found.unwrap_or_default().found.into_iter().map(finding));
        }
        findings.retain(|found| found.severity == Severity::Block || runs.contains(&&found.place));
        // Paths run side by side, so the order of their findings may differ in a resume.
        findings.sort_by_key(|found| (found.severity != Severity::Block, found.place.step(), found.line));
        Ok(findings)
    }

    /// The run at a probe of the solution with this number, with scripts that see changed data.
    #[must_use]
    pub(crate) fn probing(&self, solution: u32, name: &str, data: DataView) -> Self {
        Self { place: self.place.probe(solution, name), data, ..self.clone() }
    }

    /// The time for a probe of a solution that took this many seconds before, and is expected to take so much longer.
    pub(crate) async fn time_for_probe(&self, seconds: f64, longer: f64) -> Result<TimePlan, Stop> {
        let allowed = self.run.limits.probe_time(&self.place, self.run.journal.elapsed());
        self.plan_within_limit(TimePlan { longer: Some(longer), ..TimePlan::new(seconds, allowed) }).await
    }

    /// How many seconds the script of the answer so far may take. The best one took `seconds` before.
    pub(crate) async fn time_for_provisional(&self, seconds: f64) -> Result<f64, Stop> {
        let allowed = self.run.limits.provisional_time(&self.place, self.run.journal.elapsed());
        Ok(self.plan_within_limit(TimePlan::new(seconds, allowed)).await?.allowed)
    }

    /// The plan, or the one that was made at this place with the same time limit: with more time, what was left out may run.
    async fn plan_within_limit(&self, plan: TimePlan) -> Result<TimePlan, Stop> {
        let limit = self.config().time_limit_seconds;
        self.plan(&json!({"seconds": plan.seconds, "time_limit_seconds": limit}), plan).await
    }

    /// The time for a submission script that repeats a run of this many seconds with more rows; `None` if the agents are
    /// told nothing about time.
    pub(crate) async fn time_for_more_rows(&self, seconds: f64) -> Result<Option<TimePlan>, Stop> {
        if !self.tells_more() {
            return Ok(None);
        }
        let allowed = self.run.limits.last_run(self.run.journal.elapsed());
        // With more time, the same solution keeps its plan, and so its submission script.
        self.plan(&json!({"seconds": seconds}), TimePlan::new(seconds, allowed)).await.map(Some)
    }

    /// Why nobody has to look for a sample in this solution; `None` if an agent is asked, or was asked by an earlier process.
    pub(crate) fn spares_search_for_samples(
        &self,
        solution: &Solution,
    ) -> Result<Option<&'static str>, Stop> {
        let place = self.place.named(Name::Task(Variant::SubsamplingExtract));
        if !self.tells_more() || self.run.journal.has_any(&place, Kind::Agent)? {
            return Ok(None);
        }
        if !self.samples() {
            return Ok(Some("the training table is so small that scripts use all of it"));
        }
        let is_sampled = may_sample(solution.text(), self.config().subsample_limit, self.tests_later());
        Ok((!is_sampled).then_some("the script leaves no training rows out"))
    }

    /// The plan, or the one that was made at this place before.
    async fn plan(&self, input: &Value, plan: TimePlan) -> Result<TimePlan, Stop> {
        let place = self.place.named(Name::Plan);
        let entry = Entry::new(&place, Kind::Probe, input, &json!({}))?;
        Ok(self.run.journal.once(entry, async { Ok::<_, Stop>(plan) }).await?.value)
    }

    /// Whether solutions that validated on different rows are compared on the rows of both wherever one is chosen over another.
    pub(crate) fn compares_like_rows(&self) -> bool {
        self.protocol().is_some_and(|protocol| protocol.like_rows)
    }

    /// The ranking, or the one that was made at this place before: `earlier` if a build that recorded none closed the step.
    pub(crate) async fn ranking(&self, ranking: Vec<usize>, earlier: Vec<usize>) -> Result<Vec<usize>, Stop> {
        let place = self.place.named(Name::Plan);
        let entry = Entry::new(&place, Kind::Probe, &json!({"solutions": ranking.len()}), &json!({}))?;
        if !self.run.journal.has(&entry)? && self.run.journal.is_closed(self.current_step()?)? {
            return Ok(earlier);
        }
        let made = async { Ok::<_, Stop>(Ranking { places: ranking }) };
        Ok(self.run.journal.once(entry, made).await?.value.places)
    }

    /// Compares two solutions that validated on other rows, on the rows that both predicted; `None` if they validated on the
    /// same rows, if these are not known, or if scripts do not find the program's folds.
    pub(crate) async fn compare_on_common_rows(
        &self,
        one: &Scored,
        other: &Scored,
    ) -> Result<Option<Comparison>, Stop> {
        let has_folds = self.protocol().is_some_and(|protocol| protocol.has_folds_file);
        if !has_folds || one.other_rows(other).is_none() {
            return Ok(None);
        }
        let place = self.place.named(Name::Common);
        let of = |one: &Scored| json!({"run": one.place(), "script": one.text()});
        let input = json!({"one": of(one), "other": of(other)});
        let kept = json!({"one": one.place(), "other": other.place()});
        let at = place.clone();
        let entry = Entry::new(&at, Kind::Probe, &input, &kept)?;
        self.fence_unless_recorded(&entry)?;
        let request = ComparisonRequest { place, one: Member::from(one), other: Member::from(other) };
        let comparison = self.or_interrupted(self.run.outside.scripts.compare(&request));
        Ok(Some(self.run.journal.once(entry, async { comparison.await? }).await?.value))
    }

    /// How alike the errors of these solutions are; `None` if their predictions are not known, or if an earlier version asked
    /// without it.
    pub(crate) async fn agreement(&self, members: &[Scored]) -> Result<Option<Agreement>, Stop> {
        if !self.verifies() || members.iter().any(|one| one.measured().is_none()) {
            return Ok(None);
        }
        let place = self.place.named(Name::Agreement);
        let runs: Vec<_> =
            members.iter().map(|one| json!({"run": one.place(), "script": one.text()})).collect();
        let kept: Vec<_> = members.iter().map(|one| json!(one.place())).collect();
        let at = place.clone();
        let (input, kept) = (json!({ "members": runs }), json!({ "members": kept }));
        let entry = Entry::new(&at, Kind::Probe, &input, &kept)?;
        let journal = self.run.journal;
        let is_asked = journal.has_any(&self.place.named(Name::Agent(AgentType::EnsPlanner)), Kind::Agent)?;
        if !journal.has(&entry)? && (is_asked || self.fence().is_err()) {
            return Ok(None);
        }
        let request = AgreementRequest { place, members: members.iter().map(Member::from).collect() };
        let found = self.or_interrupted(self.run.outside.scripts.agreement(&request));
        let found = self.run.journal.once(entry, async { found.await? }).await?.value;
        Ok(Some(found).filter(|found| found.failure.is_empty()))
    }

    /// Chooses weights for the predictions of these solutions, which may run this many seconds together.
    pub(crate) async fn select(&self, members: &[Scored], seconds: f64) -> Result<Selection, Stop> {
        let place = self.place.named(Name::Weights);
        let runs: Vec<_> =
            members.iter().map(|one| json!({"run": one.place(), "script": one.text()})).collect();
        let kept: Vec<_> = members.iter().map(|one| json!(one.place())).collect();
        let (input, kept) = (json!({ "members": runs }), json!({ "members": kept }));
        let at = place.clone();
        let entry = Entry::new(&at, Kind::Selection, &input, &kept)?;
        self.fence_unless_recorded(&entry)?;
        let members = members.iter().map(Member::from).collect();
        let request = SelectionRequest { place, members, seconds };
        let selection = self.or_interrupted(self.run.outside.scripts.select(&request));
        Ok(self.run.journal.once(entry, async { selection.await? }).await?.value)
    }

    /// How what the script of `second` predicted for the rows of the test table differs from what that of `first` did, which
    /// had seen fewer rows. `None` in a step that ended before the program compared them.
    pub(crate) async fn compare_fits(
        &self,
        first: (&Place, &str),
        second: (&Place, &str),
    ) -> Result<Option<Refit>, Stop> {
        let place = self.place.named(Name::Refit);
        let run = |(run, script): (&Place, &str)| json!({"run": run, "script": script});
        let input = json!({"first": run(first), "second": run(second)});
        let at = place.clone();
        let entry = Entry::new(&at, Kind::Probe, &input, &json!({"first": first.0, "second": second.0}))?;
        if !self.run.journal.has(&entry)? && self.run.journal.is_closed(self.current_step()?)? {
            return Ok(None);
        }
        self.fence_unless_recorded(&entry)?;
        let owned = |(run, script): (&Place, &str)| (run.clone(), script.to_owned());
        let request = RefitRequest { place, first: owned(first), second: owned(second) };
        let compared = self.or_interrupted(self.run.outside.scripts.compare_fits(&request));
        let refit = self.run.journal.once(entry, async { compared.await? }).await?.value;
        if !refit.failure.is_empty() {
            self.info(format!(
                "the predictions of {} and {} are not compared: {}",
                first.0, second.0, refit.failure
            ));
        }
        Ok(Some(refit).filter(|refit| refit.failure.is_empty()))
    }

    /// This place, with a script that makes the submission again from all rows and keeps its model.
    #[must_use]
    pub(crate) fn keeping_model(&self) -> Self {
        Self { place: self.place.model(), data: DataView::Whole, ..self.clone() }
    }

    /// How many seconds a script may take that makes the submission again, which took `seconds` before.
    pub(crate) async fn time_for_model(&self, seconds: f64) -> Result<TimePlan, Stop> {
        let allowed = self.run.limits.last_run(self.run.journal.elapsed());
        self.plan_within_limit(TimePlan::new(seconds, allowed)).await
    }

    /// Whether an earlier version ended the step without a plan for the run at this place.
    pub(crate) fn was_left_out_before(&self) -> Result<bool, Stop> {
        let is_planned = self.run.journal.has_any(&self.place.named(Name::Plan), Kind::Probe)?;
        Ok(!is_planned && self.run.journal.is_closed(self.current_step()?)?)
    }

    /// The outcome of the script that combines these solutions by weights, without running it.
    pub(crate) async fn combine(
        &self,
        script: &str,
        members: &[(Scored, f64)],
        by: CombinedBy,
        measured: Measurement,
    ) -> Result<(Place, ScriptOutcome), Stop> {
        let place = self.place.named(Name::Run);
        let input =
            json!({"script": script, "purpose": Purpose::Score, "data": self.run.data_id, "combined": true});
        let entry =
            Entry::new(&place, Kind::Script, &input, &json!({"script": script, "purpose": Purpose::Score}))?;
        self.fence_unless_recorded(&entry)?;
        let members = members.iter().map(|(one, weight)| (Member::from(one), *weight)).collect();
        let request =
            CombinationRequest { place: place.clone(), script: script.to_owned(), members, by, measured };
        let outcome = self.or_interrupted(self.run.outside.scripts.combine(&request));
        let outcome = self.run.journal.once(entry, async { outcome.await? }).await?;
        self.report_outcome(&place, &outcome);
        Ok((place, outcome.value))
    }

    /// Compares training and test table with the program's own script, before the first step. A comparison that fails
    /// is a warning.
    pub(crate) async fn compare_tables(&self) -> Result<(), Stop> {
        let Some(protocol) = self.run.protocol.filter(|protocol| !protocol.comparison.is_empty()) else {
            return Ok(());
        };
        let ctx = Self { place: Place::tables(), data: DataView::Compared, ..self.clone() };
        let outcome = ctx.run(&protocol.comparison, Purpose::Comparison).await?.value;
        match Shift::parse(&outcome.stdout.text()).filter(|_| !outcome.is_error()) {
            Some(shift) => {
                shift.sentences().into_iter().for_each(|sentence| ctx.info(sentence));
                // Nothing else sets it.
                let _ = self.run.shift.set(shift);
            }
            None => ctx.warn(format!("training and test table were not compared: {}", outcome.headline())),
        }
        Ok(())
    }

    pub(super) fn holdout_digest(&self) -> Option<&'a str> {
        match &self.run.protocol?.holdout {
            Holdout::On { digest, .. } | Holdout::Test { digest, .. } => Some(digest),
            Holdout::Off { .. } => None,
        }
    }

    /// How scripts have to validate, one sentence each; empty for the paper's way.
    pub(super) fn validation_rules(&self) -> Value {
        let rules = self.protocol().map(|protocol| {
            let found = self.shift().map(Shift::sentences).unwrap_or_default();
            let detail = match self.tells_more() {
                true => Detail::Folds { seed: self.config().seed },
                false => Detail::Brief,
            };
            protocol.validation_rules(detail).into_iter().chain(found).collect::<Vec<_>>()
        });
        json!(rules.unwrap_or_default())
    }
}
