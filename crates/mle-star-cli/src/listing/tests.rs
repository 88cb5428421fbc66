use mle_star::journal::Journal;
use mle_star::testing::frozen;

use super::*;

fn run(runs: &Path, id: &str) {
    fs::create_dir_all(runs.join(id)).unwrap();
    drop(Journal::create(&runs.join(id), &frozen()).unwrap());
}

fn states(listing: &Listing) -> Vec<(String, &'static str)> {
    let state = |entry: Entry| {
        let state = match entry.read {
            Read::Run(_) => "run",
            Read::Unreadable(_) => "unreadable",
            Read::NotYet => "not yet",
        };
        (entry.id, state)
    };
    let mut states: Vec<_> = listing.entries().into_iter().map(state).collect();
    states.sort();
    states
}

#[test]
fn only_what_changed_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path();
    let listing = Listing::of(runs);
    let check = |states_of: &[(&str, &str)], read: u64| {
        let before = listing.known().generation;
        let now = listing.look(Look::Whole);
        assert_eq!(listing.look(Look::Whole), now, "nothing has changed");
        assert_eq!(now - before, read, "{states_of:?}");
        let found = states(&listing);
        let found: Vec<(&str, &str)> = found.iter().map(|(id, state)| (id.as_str(), *state)).collect();
        assert_eq!(found, states_of);
    };
    check(&[], 0);
    run(runs, "a");
    run(runs, "b");
    check(&[("a", "run"), ("b", "run")], 2);
    set_remark(&runs.join("b"), "good").unwrap();
    check(&[("a", "run"), ("b", "run")], 1);
    fs::write(runs.join("a").join(layout::JOURNAL), "no journal").unwrap();
    check(&[("a", "unreadable"), ("b", "run")], 1);
    fs::remove_dir_all(runs.join("a")).unwrap();
    check(&[("b", "run")], 1);
}

#[test]
fn what_there_is_no_time_for_is_read_in_the_background() {
    let dir = tempfile::tempdir().unwrap();
    for id in ["a", "b", "c"] {
        run(dir.path(), id);
    }
    let listing = Listing::of(dir.path());
    listing.look(Look::Within(Duration::ZERO));
    // All of them are named at once.
    assert_eq!(listing.entries().len(), 3);
    while listing.known().is_reading {
        thread::yield_now();
    }
    assert!(states(&listing).iter().all(|(_, state)| *state == "run"), "{:?}", states(&listing));
}

#[test]
fn an_entry_survives_being_kept() {
    let dir = tempfile::tempdir().unwrap();
    run(dir.path(), "a");
    let listing = Listing::of(dir.path());
    listing.look(Look::Whole);
    let known = listing.known();
    let text = serde_json::to_string(&known.runs).unwrap();
    let again: HashMap<String, Stamped> = serde_json::from_str(&text).unwrap();
    let [before, after] = [&known.runs["a"], &again["a"]];
    assert_eq!((&before.stamp, before.entry.row()), (&after.stamp, after.entry.row()));
    assert!(before.entry.row().is_some());
}
