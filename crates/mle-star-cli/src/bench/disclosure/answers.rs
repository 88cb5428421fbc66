//! Whether a signal from the hidden answers can have reached the agents.

use mle_star_domain::config::{AgentsChoice, Switch};
use serde::Serialize;

use crate::bench::folder::BenchProcess;
use crate::bench::grade::Kept;

/// The sentence that benchmarks ask for.
const STATEMENT: &str = "No signal derived from the hidden answers reached the agents.";

/// The hidden answers, and what is known about who could see them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HiddenAnswers {
    /// The runs whose submission was graded with them.
    pub graded_runs: usize,
    /// How often submissions were graded.
    pub gradings: u64,
    /// The statement, if every check holds.
    pub statement: Option<&'static str>,
    /// What the statement rests on.
    pub checks: Vec<Check>,
}

/// One reason for the statement.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// What is claimed.
    pub claim: &'static str,
    /// Whether it holds for every run.
    pub holds: bool,
    /// Why.
    pub evidence: String,
}

/// What is known about one run that decides whether hidden answers could have reached its agents.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunExposure<'a> {
    pub agents: AgentsChoice,
    /// Whether scripts could use the network.
    pub network: Switch,
    /// Web requests of agents.
    pub lookups: usize,
    /// The processes that worked on it.
    pub processes: &'a [BenchProcess],
    /// Its grade.
    pub kept: Option<&'a Kept>,
}

impl HiddenAnswers {
    /// Checks whether hidden answers could have reached the agents in any of these runs.
    pub(super) fn of(runs: &[RunExposure<'_>]) -> Self {
        let kept = || runs.iter().filter_map(|run| run.kept);
        let (graded_runs, gradings) = (kept().count(), kept().map(|kept| kept.times).sum());
        if graded_runs == 0 {
            return Self::default();
        }
        let checks = vec![after_the_end(runs), scripts(runs), agents(runs), web(runs)];
        let statement = checks.iter().all(|check| check.holds).then_some(STATEMENT);
        Self { graded_runs, gradings, statement, checks }
    }
}

fn after_the_end(runs: &[RunExposure<'_>]) -> Check {
    let is_after = |run: &&RunExposure<'_>| {
        let Some(kept) = run.kept else { return false };
        let worked_later = run.processes.iter().any(|process| process.at >= kept.at);
        kept.after.is_some_and(|after| after <= kept.at) && !worked_later
    };
    let graded = runs.iter().filter(|run| run.kept.is_some()).count();
    let after = runs.iter().filter(is_after).count();
    Check {
        claim: "The program compared a submission with the answers only after its run had ended, and never worked on the run again.",
        holds: after == graded,
        evidence: format!(
            "true of {after} of {graded} graded runs, by the times of result.json, of grading and of processes"
        ),
    }
}

fn scripts(runs: &[RunExposure<'_>]) -> Check {
    let (all, closed) = processes(runs, |process| process.reads_closed || !process.has_answers);
    Check {
        claim: "Scripts could read their data and libraries, and no other files. The answers are not part of the data.",
        holds: closed == all && all > 0,
        evidence: format!("enforced, or no answers given, in {closed} of {all} processes that made runs"),
    }
}

fn agents(runs: &[RunExposure<'_>]) -> Check {
    let reads_files = |run: &&RunExposure<'_>| {
        let without_files = matches!(run.agents, AgentsChoice::Offline | AgentsChoice::OpenAi);
        let had_answers = run.processes.iter().any(|process| process.has_answers);
        !without_files && had_answers
    };
    let reading = runs.iter().filter(reads_files).count();
    let evidence = match reading {
        0 => "the agents have no access to files, or the answers were given after the runs".to_owned(),
        _ => format!(
            "in {reading} of {} runs, agents with access to files worked while the answers were on the machine; \
             run the bench without answers and add them afterwards to rule this out",
            runs.len()
        ),
    };
    Check { claim: "Agents could not read the answers.", holds: reading == 0, evidence }
}

fn web(runs: &[RunExposure<'_>]) -> Check {
    let open = runs.iter().filter(|run| run.network == Switch::On).count();
    let lookups: usize = runs.iter().map(|run| run.lookups).sum();
    Check {
        claim: "Nothing was read from the web, where answers may be published.",
        holds: open == 0 && lookups == 0,
        evidence: format!("web requests of agents: {lookups}; runs whose scripts had a network: {open}"),
    }
}

/// The number of processes that worked on runs, and of those for which something holds.
fn processes(runs: &[RunExposure<'_>], holds: impl Fn(&BenchProcess) -> bool) -> (usize, usize) {
    let all = || runs.iter().flat_map(|run| run.processes);
    (all().count(), all().filter(|process| holds(process)).count())
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::bench::folder::Hardware;
    use crate::bench::grade::Grading;
    use crate::bench::scale::Grade;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn process(second: i64) -> BenchProcess {
        let hardware = Hardware {
            processor: String::new(),
            cores: 2,
            memory_mib: 1,
            gpus: Vec::new(),
            platform: String::new(),
        };
        BenchProcess {
            at: at(second),
            hardware,
            isolation: String::new(),
            reads_closed: true,
            has_answers: true,
            side_by_side: 1,
        }
    }

    #[test]
    fn the_statement_is_made_only_if_every_check_holds() {
        let kept = |after: Option<i64>| Kept {
            submission: String::new(),
            grading: Grading::default(),
            at: at(100),
            after: after.map(at),
            times: 1,
            grade: Grade::default(),
        };
        let (graded, early, unknown) = (kept(Some(90)), kept(Some(110)), kept(None));
        let (before, later) = (vec![process(10)], vec![process(10), process(120)]);
        let open = vec![BenchProcess { reads_closed: false, ..process(10) }];
        let without = vec![BenchProcess { reads_closed: false, has_answers: false, ..process(10) }];
        let (agents, network) = (AgentsChoice::Offline, Switch::Off);
        let whole = RunExposure { agents, network, lookups: 0, processes: &before, kept: Some(&graded) };
        let check = |facts: RunExposure<'_>, fails: Option<usize>| {
            let hidden = HiddenAnswers::of(&[whole, facts]);
            let failing = hidden.checks.iter().position(|check| !check.holds);
            assert_eq!(failing, fails, "{hidden:?}");
            assert_eq!(hidden.statement.is_some(), fails.is_none());
        };
        check(whole, None);
        check(RunExposure { kept: Some(&early), ..whole }, Some(0));
        check(RunExposure { kept: Some(&unknown), ..whole }, Some(0));
        check(RunExposure { processes: &later, ..whole }, Some(0));
        check(RunExposure { processes: &open, ..whole }, Some(1));
        check(RunExposure { agents: AgentsChoice::Claude, ..whole }, Some(2));
        check(RunExposure { agents: AgentsChoice::Claude, processes: &without, ..whole }, None);
        check(RunExposure { agents: AgentsChoice::OpenAi, ..whole }, None);
        check(RunExposure { lookups: 1, ..whole }, Some(3));
        check(RunExposure { network: Switch::On, ..whole }, Some(3));
        let ungraded = HiddenAnswers::of(&[RunExposure { kept: None, ..whole }]);
        assert!(ungraded.statement.is_none() && ungraded.checks.is_empty());
    }
}
