//! Runs from a folder to a result.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use async_trait::async_trait;
use mle_star::event::{Event, EventSink};
use mle_star::result::FinalResult;
use mle_star_needs::needs;
use mle_star_run::{ErrorKind, Observer, RunOptions, drive, prepare};

use crate::embed::solve;
use crate::world::World;

#[test]
fn ten_lines_lead_from_a_folder_to_a_submission() {
    needs!(Libraries);
    let world = World::new();
    let result = solve(&world.data(), &world.settings()).unwrap();
    assert_eq!(result.task.evaluation_metric, "RMSE");
    let submission = fs::read_to_string(&result.submission_path).unwrap();
    assert_eq!((submission.lines().next(), submission.lines().count()), (Some("id,price"), 21));
}

/// Notes what happens.
#[derive(Default)]
struct Notebook {
    seen: Mutex<Vec<String>>,
}

impl EventSink for Notebook {
    fn emit(&self, event: Event) {
        let name = serde_json::to_value(&event).unwrap()["event"].as_str().unwrap().to_owned();
        self.seen.lock().unwrap().push(name);
    }
}

#[async_trait]
impl Observer for Notebook {
    async fn before_result(&self, folder: &Path, _: &FinalResult) -> Vec<String> {
        let is_marked = folder.join("result.json").exists();
        self.seen.lock().unwrap().push(format!("result, marked: {is_marked}"));
        vec!["a note".to_owned()]
    }
}

#[test]
fn an_observer_sees_the_result_before_it_counts() {
    needs!(Libraries);
    let world = World::new();
    let options = RunOptions::default().set("agents=offline").unwrap().set_all(&world.settings()).unwrap();
    let run = prepare(&options, &world.data()).unwrap().freeze(&|_| ()).unwrap();
    let notebook = Notebook::default();
    drive(&run, &notebook).unwrap();
    let seen = notebook.seen.into_inner().unwrap();
    assert_eq!(seen.first().map(String::as_str), Some("run_started"));
    assert!(seen.iter().any(|name| name == "script_ended"), "{seen:?}");
    assert_eq!(seen[seen.len() - 2..], ["result, marked: false", "said"]);
    assert!(world.run().join("result.json").exists());
}

#[test]
fn a_mistake_has_a_kind_a_cause_and_a_hint() {
    let options = RunOptions::default().set("agents=offline").unwrap();
    let error = prepare(&options, Path::new("/no/such/folder")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Input);
    assert_eq!(error.to_string(), "no such folder or file: /no/such/folder");
    assert!(error.trouble.hint.contains("give a data folder"), "{error:?}");
    let error = RunOptions::default().set("agents").unwrap_err();
    assert_eq!((error.kind, error.to_string().as_str()), (ErrorKind::Input, "setting agents has no value"));
}
