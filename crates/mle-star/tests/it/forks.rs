//! A fork has what comes before its place, pays none of it again, and ends as its parent if nothing changes.

use std::collections::{BTreeMap, BTreeSet};

use mle_star::journal::{Frozen, Journal, hold, leave_note, read};
use mle_star::pipeline::check_recorded;
use mle_star::prompts::Prompts;
use mle_star::result::FinalResult;
use mle_star::testing::{World, frozen};
use mle_star_domain::config::{AgentsChoice, Context};
use mle_star_domain::place::Place;

use crate::{Folder, go_on};

fn world() -> World {
    World::new()
        .costs(Some(1.0))
        .scores("phase1/candidate-0/run", 0.6)
        .fails("phase1/candidate-1/run")
        .scores("phase1/candidate-1/debug-1/run", 0.7)
        .scores("phase2/path-0/t0/k0/run", 0.8)
        .scores("phase2/path-1/t0/k1/run", 0.75)
        .scores("phase3/r1/run", 0.9)
}

fn inputs(context: Context) -> Frozen {
    let mut inputs = frozen();
    // What was interrupted has no cost to estimate.
    (inputs.config.context, inputs.config.agents) = (context, AgentsChoice::Files);
    inputs
}

/// Forks at a place; the shared places.
fn fork(parent: &Folder, frozen: &Frozen, at: &str) -> (Folder, Vec<Place>) {
    let folder = Folder::fresh();
    let shared = Journal::fork(parent.path(), &hold(folder.path()).unwrap(), frozen, &at.into()).unwrap();
    (folder, shared)
}

/// Works on a run until it ends.
async fn solve(world: &World, folder: &Folder) -> FinalResult {
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(world, &frozen, &journal).await.unwrap().result
}

async fn every_fork_ends_as_its_parent(context: Context) {
    let (inputs, whole, world) = (inputs(context), Folder::fresh(), world());
    let journal = Journal::create(whole.path(), &inputs).unwrap();
    let expected = go_on(&world, &inputs, &journal).await.unwrap().result;
    drop(journal);
    let all = world.trace();
    let verdicts = read(whole.path()).unwrap().verdicts();
    let steps = all.iter().filter_map(|place| Some(Place::from(place.as_str()).step()?.to_string()));
    let within =
        all.iter().filter(|place| place.starts_with("phase2/path-0/t0/k1") && context == Context::Full);
    let places: BTreeSet<String> = steps.chain(within.cloned()).chain(["phase2".to_owned()]).collect();
    for at in places {
        let (folder, shared) = fork(&whole, &inputs, &at);
        // Everything shared is asked again just so.
        let copy = Folder::fresh();
        std::fs::copy(folder.path().join("journal.db"), copy.path().join("journal.db")).unwrap();
        let (journal, _) = Journal::open(copy.path()).unwrap();
        let prompts = Prompts::new(inputs.config.context, BTreeMap::new()).unwrap();
        check_recorded(&inputs, &prompts, &journal).await.unwrap();
        assert_eq!(journal.unread().unwrap(), Vec::<Place>::new(), "at {at}");
        drop(journal);

        world.forget();
        let result = solve(&world, &folder).await;
        let (done, kept) = (world.trace(), shared.iter().filter(|place| all.contains(&place.to_string())));
        assert_eq!(done.len() + kept.count(), all.len(), "at {at}: repeated or lost");
        assert!(
            done.iter().any(|place| Place::from(place.as_str()).is_within(&at.as_str().into())),
            "at {at}"
        );
        let phase = |place: &String| Place::from(place.as_str()).phase();
        let is_beside =
            |place: &String| at.starts_with("phase2/path-0") && place.starts_with("phase2/path-1");
        assert!(
            done.iter().all(|place| phase(place) >= phase(&at) && !is_beside(place)),
            "at {at}: {done:?}"
        );
        assert_eq!(result.final_solution.content, expected.final_solution.content, "at {at}");
        assert_eq!(result.lineage, expected.lineage, "at {at}");
        assert_eq!(read(folder.path()).unwrap().verdicts(), verdicts, "at {at}");
        let forked = result.forked_from.unwrap();
        assert_eq!((forked.run, forked.place.to_string()), (inputs.run_id.clone(), at.clone()));
        let paid = result.total_cost_usd.unwrap();
        let calls = done.iter().filter(|place| world.request(place).is_some()).count();
        assert_eq!(paid, calls as f64, "at {at}");
        assert_eq!(paid + forked.inherited_cost_usd.unwrap(), expected.total_cost_usd.unwrap(), "at {at}");
    }
}

#[tokio::test]
async fn every_fork_pays_only_what_follows_and_ends_as_its_parent() {
    every_fork_ends_as_its_parent(Context::Full).await;
    every_fork_ends_as_its_parent(Context::Paper).await;
}

#[tokio::test]
async fn a_fork_goes_on_with_another_model_and_with_the_notes_that_were_seen() {
    let (inputs, whole) = (inputs(Context::Full), Folder::fresh());
    let journal = Journal::create(whole.path(), &inputs).unwrap();
    leave_note(whole.path(), "seen").unwrap();
    let world = world().breaks_once("phase3/r1/ensembler");
    drop(go_on(&world, &inputs, &journal).await.unwrap_err());
    leave_note(whole.path(), "seen late").unwrap();
    drop(journal);
    let (journal, frozen) = Journal::open(whole.path()).unwrap();
    // Also of a run that another process, or this one, works on.
    let mut changed = frozen.clone();
    (changed.config.model, changed.run_id) = ("another".to_owned(), "fork".to_owned());
    let (folder, _) = fork(&whole, &changed, "phase3/r0");
    drop(journal);
    world.forget();
    let result = solve(&world, &folder).await;
    assert!(!world.trace().iter().any(|place| place.starts_with("phase1")), "{:?}", world.trace());
    let planner = world.request("phase3/r0/ens_planner").unwrap();
    assert_eq!(planner.model, "another");
    assert!(planner.prompt.contains("> seen") && !planner.prompt.contains("> seen late"));
    assert_eq!(result.config.model, "another");

    // A fork of the fork inherits from both, and a resume of it repeats nothing.
    let (second, _) = fork(&folder, &changed, "phase3/r1");
    world.forget();
    let again = solve(&world, &second).await;
    let (first, forked) = (result.forked_from.unwrap(), again.forked_from.unwrap());
    assert_eq!(forked.run, "fork");
    assert!(forked.inherited_cost_usd > first.inherited_cost_usd, "{forked:?} {first:?}");
    world.forget();
    solve(&world, &second).await;
    assert_eq!(world.trace(), Vec::<String>::new());

    // What a part of the inherited calls cost is not known any more.
    let (third, _) = fork(&second, &changed, "phase1/candidate-1");
    assert_eq!(read(third.path()).unwrap().forked_from.unwrap().inherited_cost_usd, None);
}

#[test]
fn a_run_is_forked_only_where_it_has_been() {
    let parent = Folder::fresh();
    drop(Journal::create(parent.path(), &frozen()).unwrap());
    let folder = Folder::fresh();
    let refused = Journal::fork(parent.path(), &hold(folder.path()).unwrap(), &frozen(), &"phase2".into());
    assert_eq!(refused.unwrap_err().to_string(), "the run has nothing at phase2");
    assert!(!folder.path().join("journal.db").exists());
}
