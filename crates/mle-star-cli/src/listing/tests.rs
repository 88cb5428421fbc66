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
    fs::write(runs.join("b").join(layout::RESULT), "{}").unwrap();
    check(&[("a", "run"), ("b", "run")], 1);
    fs::write(runs.join("a").join(layout::JOURNAL), "no journal").unwrap();
    check(&[("a", "unreadable"), ("b", "run")], 1);
    fs::remove_dir_all(runs.join("a")).unwrap();
    check(&[("b", "run")], 1);
}
