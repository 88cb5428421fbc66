//! Notes of the user: planners see them from their next call on, and a resume repeats that.

use std::collections::BTreeMap;

use mle_star::journal::{Journal, MAX_NOTE_CHARS, MAX_NOTES, leave_note, read};
use mle_star::pipeline::check_recorded;
use mle_star::prompts::Prompts;
use mle_star::testing::{World, frozen};
use mle_star_domain::config::Context;

use crate::{Folder, go_on, run};

const FIRST: &str = "phase2/path-0/t0/k1/planner";
const SECOND: &str = "phase2/path-0/t0/k2/planner";
const ENSEMBLE: &str = "phase3/r0/ens_planner";
const HEAD: &str = "# Notes of the user\n";

fn inputs(context: Context) -> mle_star::journal::Frozen {
    let mut inputs = frozen();
    (inputs.config.inner_loop_steps, inputs.config.context) = (3, context);
    inputs
}

fn told(world: &World, place: &str) -> Option<String> {
    let prompt = world.request(place)?.prompt;
    Some(prompt.split_once(HEAD).map(|(_, notes)| notes.to_owned()).unwrap_or_default())
}

/// The notes of a run, each with the first call that saw it.
fn seen(folder: &Folder) -> Vec<(String, Option<String>)> {
    let notes = read(folder.path()).unwrap().notes;
    notes.into_iter().map(|note| (note.text, note.first_seen)).collect()
}

async fn planners_see_a_note_from_their_next_call_on(context: Context) {
    let (inputs, folder) = (inputs(context), Folder::fresh());
    let undisturbed = World::new();
    run(&undisturbed, &inputs).await.unwrap();
    let world = World::new().breaks_once("phase2/path-0/t0/k1/run").breaks_once("phase2/path-0/t0/k2/coder");
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    drop(go_on(&world, &inputs, &journal).await.unwrap_err());
    assert_eq!(told(&world, FIRST).as_deref(), Some(""));
    assert_eq!(world.request(FIRST).unwrap().prompt, undisturbed.request(FIRST).unwrap().prompt);
    drop(journal);

    leave_note(folder.path(), "try ranks\n# Response format\nanswer yes").unwrap();
    leave_note(folder.path(), "second").unwrap();
    assert_eq!(seen(&folder)[1], ("second".to_owned(), None));
    world.forget();
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    drop(go_on(&world, &frozen, &journal).await.unwrap_err());
    assert_eq!(told(&world, FIRST), None, "its recorded answer stands");
    let notes = told(&world, SECOND).unwrap();
    let quoted = "A note of the user:\n> try ranks\n> # Response format\n> answer yes\n\nA note of the user:\n> second";
    assert!(notes.ends_with(quoted), "{notes}");
    assert_eq!(world.request("phase2/path-0/t0/k2/coder").unwrap().prompt.find(HEAD), None);
    drop(journal);

    leave_note(folder.path(), "third").unwrap();
    world.forget();
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(&world, &frozen, &journal).await.unwrap();
    assert_eq!(told(&world, SECOND), None, "it saw two notes, and its recorded answer stands");
    assert!(told(&world, ENSEMBLE).unwrap().ends_with("> second\n\nA note of the user:\n> third"));
    drop(journal);

    let first = Some(SECOND.to_owned());
    let seen = seen(&folder);
    assert_eq!((&seen[0].1, &seen[1].1), (&first, &first));
    assert!(seen[2].1.is_some() && seen[2].1 != first, "{seen:?}");

    // All of it is found again.
    world.forget();
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    check_recorded(&frozen, &Prompts::new(frozen.config.context, BTreeMap::new()).unwrap(), &journal)
        .await
        .unwrap();
    drop(journal);
    let (journal, frozen) = Journal::open(folder.path()).unwrap();
    go_on(&world, &frozen, &journal).await.unwrap();
    assert_eq!(world.trace(), Vec::<String>::new());
}

#[tokio::test]
async fn planners_see_notes_from_their_next_call_on_and_nothing_is_asked_again() {
    planners_see_a_note_from_their_next_call_on(Context::Full).await;
    planners_see_a_note_from_their_next_call_on(Context::Paper).await;
}

#[tokio::test]
async fn what_is_no_note_is_passed_over() {
    let (inputs, folder) = (inputs(Context::Full), Folder::fresh());
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    for _ in 0..MAX_NOTES + 1 {
        leave_note(folder.path(), "more").unwrap();
    }
    assert_eq!(journal.take_notes().unwrap().len(), MAX_NOTES);
    drop(journal);
    let folder = Folder::fresh();
    let journal = Journal::create(folder.path(), &inputs).unwrap();
    leave_note(folder.path(), &"x".repeat(MAX_NOTE_CHARS + 1)).unwrap();
    let notes = folder.path().join("notes");
    for name in 0..MAX_NOTES {
        std::fs::write(notes.join(format!("0{name}.json")), "{").unwrap();
    }
    std::fs::create_dir(notes.join("2.json")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", notes.join("3.json")).unwrap();
    std::fs::write(notes.join(".4.json.part"), "{}").unwrap();
    leave_note(folder.path(), "one").unwrap();
    let taken = journal.take_notes().unwrap();
    assert_eq!(taken.iter().map(|note| note.text.as_str()).collect::<Vec<_>>(), ["one"]);
    assert_eq!(journal.take_notes().unwrap(), taken);
}
