//! Tests of rules that no run can break from outside: meaningless agent inputs, and an ensemble of one solution.

use std::collections::BTreeMap;

use super::phases::ensemble_of;
use crate::agents::{Focus, ens_planner, ensembler, planner};
use crate::ctx::{Ctx, Outside, Run};
use crate::journal::Journal;
use crate::paper::ensemble::Rounds;
use crate::prompts::Prompts;
use crate::scored::Scored;
use crate::slots::Slots;
use crate::stop::Stop;
use crate::testing::{self, World, frozen};
use mle_star_domain::place::Step;

/// Calls `check` with a run that has not begun.
async fn in_a_run(world: &World, check: impl AsyncFnOnce(&Ctx<'_>)) {
    let (folder, inputs) = (tempfile::tempdir().unwrap(), frozen());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    let prompts = Prompts::new(inputs.config.context, BTreeMap::new()).unwrap();
    let (_sender, cancel) = tokio::sync::watch::channel(false);
    let outside = Outside {
        agents: world,
        scripts: world,
        events: world,
        cancel: &cancel,
        environment: "Python 3",
        script_slots: &Slots::new(1),
        agent_slots: &Slots::new(1),
    };
    let run = Run::new(&inputs, &prompts, &journal, outside).unwrap();
    check(&Ctx::root(&run).at(Step::Round(0), [])).await;
}

fn scored(text: &str) -> Scored {
    testing::scored(text).unwrap()
}

fn refused<T>(answer: Result<T, Stop>, expected: &str) {
    let Err(Stop::Bug { what, .. }) = answer else { panic!("{expected:?} is not checked") };
    assert_eq!(what, expected);
}

#[tokio::test]
async fn agents_are_not_asked_for_plans_and_scripts_without_what_they_need() {
    let world = World::new();
    in_a_run(&world, async |ctx| {
        let (one, two) = (scored("block = 1"), scored("block = 2"));
        let block = one.solution().find_block("block = 1").unwrap();
        let focus = Focus { current: &one, block: &block, summary: "" };
        let least = "At least one previous plan is required for A_planner";
        refused(planner(ctx, &focus, &[]).await, least);
        let least = "A_ens_planner requires at least 2 solutions for ensembling";
        refused(ens_planner(ctx, &[], &[], None).await, least);
        refused(ens_planner(ctx, std::slice::from_ref(&one), &[], None).await, least);
        let least = "A_ensembler requires at least 2 solutions for ensembling";
        refused(ensembler(ctx, "a plan", std::slice::from_ref(&one), None).await, least);
        let plan = "A_ensembler requires a non-empty ensemble plan";
        refused(ensembler(ctx, " \n", &[one.clone(), two], None).await, plan);
        refused(ensembler(ctx, "", &[], None).await, plan);
    })
    .await;
    assert_eq!(world.trace(), Vec::<String>::new());
}

#[tokio::test]
async fn an_ensemble_of_one_solution_is_that_solution() {
    let world = World::new();
    in_a_run(&world, async |ctx| {
        let only = scored("block = 1");
        let mut rounds = Rounds::default();
        let best = ensemble_of(ctx, std::slice::from_ref(&only), &mut rounds).await.unwrap();
        assert_eq!((best, rounds.attempts), (Some(only), Vec::new()));
    })
    .await;
    assert_eq!((world.trace(), world.events()), (Vec::new(), Vec::new()));
}
