use mle_star::journal::Journal;
use mle_star::testing::frozen;
use mle_star_domain::layout;
use mle_star_report::run_view;

use super::*;

#[test]
fn a_summary_is_believed_until_something_is_newer() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("a");
    fs::create_dir_all(&run).unwrap();
    drop(Journal::create(&run, &frozen()).unwrap());
    let data = || entries(dir.path())[0].run.as_ref().map(|run| run.data.clone()).map_err(Clone::clone);
    let read = data().unwrap();
    let mut summary = run_view::read(&run).unwrap().summary;
    summary.data = "kept".to_owned();
    let write = |summary: &RunSummary| {
        fs::write(run.join(layout::SUMMARY), serde_json::to_vec(summary).unwrap()).unwrap();
    };
    write(&summary);
    assert_eq!(data().unwrap(), "kept");
    // As earlier versions wrote it.
    let mut file = serde_json::to_value(&summary).unwrap();
    for later in ["expected", "validated"] {
        assert!(file.as_object_mut().unwrap().remove(later).is_some());
    }
    fs::write(run.join(layout::SUMMARY), file.to_string()).unwrap();
    assert_eq!(data().unwrap(), "kept");
    let mut finished = summary.clone();
    finished.run.state = run_view::State::Finished;
    write(&finished);
    assert_eq!(data().unwrap(), read, "there is no result");
    write(&summary);
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(5);
    let touched = fs::File::options().append(true).open(run.join(layout::JOURNAL)).unwrap();
    touched.set_modified(later).unwrap();
    assert_eq!(data().unwrap(), read, "the journal is newer");
    fs::write(run.join(layout::SUMMARY), "{").unwrap();
    assert_eq!(data().unwrap(), read, "the file is damaged");
    fs::write(run.join(layout::JOURNAL), "no journal").unwrap();
    assert!(data().is_err());
}
