//! Real scripts whose scores the program computes itself.

mod combinations;
mod held_out;
mod last_fold;
mod metric_files;
mod probes;
mod searches;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mle_star::backend::ScriptRunner as _;
use mle_star_backends::backend::ScriptBackend;
use mle_star_backends::script::evaluation::{EvaluationSetup, HoldoutSetup};
use mle_star_domain::effects::{Purpose, ScriptEnd, ScriptOutcome, ScriptRequest};
use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::question::FileStem;
use mle_star_tables::metrics::Metric;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::world::{World, evaluation, request};

/// Three rows with labels and one without.
const NUMBERS: &str = "id,x,y\n11,a,1\n12,b,2\n13,c,\n14,d,3.0\n";
const CLASSES: &str = "id,y\n1,True\n2,False\n3,True\n4,False\n";

/// A world in which the program knows the labels of this table.
async fn world(train: &str, metric: Metric, id: Option<&str>) -> World {
    let mut world = World::new().await;
    let table = world.setup.data_dir.join("train.csv");
    fs::write(&table, train).unwrap();
    let columns = LabelColumns::new(id.map(str::to_owned), "y");
    world.setup.evaluation = Some(EvaluationSetup { columns, ..evaluation(table, metric) });
    world
}

/// A script that writes these predictions and prints this score.
fn script(predictions: &str, printed: &str) -> String {
    format!(
        "open('final/validation_predictions.csv', 'w').write({predictions:?})\n\
         print('Final Validation Performance:', {printed:?})"
    )
}

/// What is wrong with the predictions, and the notes.
fn said(outcome: &ScriptOutcome) -> String {
    outcome.mismatch.iter().chain(&outcome.notes).cloned().collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn scores_are_computed_from_predictions() {
    let check = async |(train, metric, id), predictions: &str, printed: &str, expected: (f64, u64)| {
        let outcome = world(train, metric, id).await.run(&script(predictions, printed)).await;
        let measured = outcome.measured.as_ref().unwrap_or_else(|| panic!("{outcome:?}"));
        assert!((measured.score - expected.0).abs() < 1e-12, "{predictions:?}: {}", measured.score);
        assert_eq!((measured.rows, said(&outcome)), (expected.1, String::new()), "{predictions:?}");
        let [low, high] = measured.interval.unwrap();
        assert!(low <= measured.score && measured.score <= high, "{predictions:?}: {:?}", measured.interval);
        assert!(!outcome.is_error() && outcome.score.is_some(), "{outcome:?}");
    };
    let numbers = (NUMBERS, Metric::Mae, Some("id"));
    let third = "id,y\n14,3\n11,1\n12,3\n";
    check(numbers, third, "0.3333333333", (1.0 / 3.0, 3)).await;
    // Some of the rows, other columns, IDs as numbers with a fraction.
    check(numbers, "y,fold,id\n2.5,0,12.0\n3.5,1,14.0\n", "0.5", (0.5, 2)).await;
    // Without a column of IDs, rows have the numbers of the table's rows, which count rows without a label too.
    check(("x,y\n5,1\n6,\n7,4\n", Metric::Mae, None), "id,y\n0,1\n2,2\n", "1.0", (1.0, 2)).await;
    let classes = (CLASSES, Metric::Accuracy, Some("id"));
    check(classes, "id,y\n1,true\n2,FALSE\n3,True\n4,True\n", "0.75", (0.75, 4)).await;
    let words = ("id,y\na,cat\nb,dog\nc,cat\nd,cow\n", Metric::Accuracy, Some("id"));
    check(words, "id,y\na,cat\nb,dog\nc,dog\nd,cow\n", "0.75", (0.75, 4)).await;
}

/// The program's score counts, whatever a script printed. Without a file, the printed score does.
#[tokio::test]
async fn another_printed_score_is_a_note_and_missing_predictions_are_not_measured() {
    let mut world = world(NUMBERS, Metric::Mae, Some("id")).await;
    let exact = "id,y\n11,1\n12,3\n14,3\n";
    for printed in ["0.5", "0.334", "0.3333343", "nan"] {
        let outcome = world.run(&script(exact, printed)).await;
        assert_eq!((outcome.mismatch.as_ref(), outcome.is_error()), (None, false), "{printed}");
        assert!((outcome.value().unwrap() - 1.0 / 3.0).abs() < 1e-12, "{outcome:?}");
        let said = format!(
            "The script printed the score {printed}; MAE over the 3 rows of its predictions is 0.3333333333."
        );
        let notes = if printed == "nan" {
            Vec::new()
        } else {
            vec![format!("{said} The score that counts is the second one.")]
        };
        assert_eq!(outcome.notes, notes);
    }
    // What it printed instead is told if the program knows it.
    let folds = world.setup.data_dir.join("folds.csv");
    fs::write(&folds, "id,fold\n11,0\n12,1\n14,1\n").unwrap();
    world.setup.evaluation.as_mut().unwrap().folds = Some(folds);
    let outcome = world.run(&script(exact, "0.25")).await;
    assert!(
        outcome.notes[0]
            .ends_with("It printed the mean over the folds; the score that counts is the second one."),
        "{outcome:?}"
    );
    world.setup.evaluation.as_mut().unwrap().folds = None;
    let silent = world.run("print('Final Validation Performance: 0.5')").await;
    assert_eq!((silent.measured.as_ref(), silent.score, said(&silent)), (None, Some(0.5), String::new()));
    // IDs that do not tell rows apart are no fault of the script.
    let outcome =
        self::world("id,y\n1,1\n2,2\n1,3\n", Metric::Mae, Some("id")).await.run(&script(exact, "0.5")).await;
    assert_eq!(
        (outcome.measured.as_ref(), outcome.mismatch.as_ref(), outcome.score),
        (None, None, Some(0.5))
    );
    let expected = "scores are not recomputed: IDs must be unique, but rows 1 and 3 have the same one";
    assert_eq!(outcome.notes, [expected]);
}

/// Held-out rows may have classes that the script's rows lack. The score counts them, and a script that does not know
/// them is right all the same.
#[tokio::test]
async fn a_score_has_the_classes_of_all_rows() {
    let table = |labels: &[&str]| {
        let rows = (0..24).map(|row| format!("{row},{}\n", labels[row % labels.len()]));
        format!("id,y\n{}", rows.collect::<String>())
    };
    let mut world = world(&table(&["1", "4", "1", "3"]), Metric::QuadraticKappa, Some("id")).await;
    let (folder, labels) = (world.folder.path().to_owned(), world.folder.path().join("labels.csv"));
    fs::write(&labels, table(&["1", "4", "2", "3", "1", "3"])).unwrap();
    let [sample, compared] = [folder.clone(), folder.clone()];
    world.setup.evaluation.as_mut().unwrap().holdout =
        Some(HoldoutSetup { data_dir: folder, sample, is_period: false, labels, compared });
    // By cohen_kappa_score(..., weights="quadratic") of scikit-learn, without and with labels=[1, 2, 3, 4].
    let outcome = world.run(&script(&table(&["1", "4"]), "0.8571428571")).await;
    assert_eq!(said(&outcome), "");
    assert!((outcome.measured.unwrap().score - 0.9375).abs() < 1e-12);
}

/// A script that is stopped at its limit counts if it has left its answer, whole.
#[tokio::test]
async fn an_answer_counts_although_its_script_is_stopped() {
    let mut world = world(NUMBERS, Metric::Mae, Some("id")).await;
    let with_sample = world.runner();
    let sample = world.setup.sample_submission.take();
    let without = world.runner();
    (world.setup.sample_submission, world.setup.evaluation) = (sample, None);
    let unmeasured = world.runner();
    let check = async |runner: &ScriptBackend, last: &str, end: ScriptEnd| {
        let first = script("id,y\n11,1\n12,3\n14,3\n", "0.3333333333");
        let script = format!(
            "import os, time\ndef write(name, text): open(f'final/{{name}}.csv', 'w').write(text)\n\
             {first}\n{last}\nprint('ready')\ntime.sleep(600)"
        );
        let outcome = runner.run(&request(&script, Duration::from_millis(1500))).await.unwrap();
        assert!(outcome.stdout.text().ends_with("ready\n"), "{outcome:?}");
        assert_eq!((&outcome.end, outcome.is_error()), (&end, end == ScriptEnd::TimedOut), "{last}");
    };
    let whole = r"write('submission', 'id,y\n1,0.25\n2,0.75\n')";
    check(&with_sample, whole, ScriptEnd::Answered).await;
    check(&unmeasured, whole, ScriptEnd::Answered).await;
    // Nobody knows how many rows it has.
    check(&without, whole, ScriptEnd::TimedOut).await;
    for incomplete in [
        r"write('submission', 'id,y\n1,0.25\n')",
        r"write('submission', 'id,y\n1,0.25\n2,0.7')",
        &format!("{whole}; write('submission_class_scores', 'id,a')"),
        // Written before the score, and before the predictions behind it.
        &format!("{whole}; os.utime('final/submission.csv', (1, 1))"),
        &format!(r"{whole}; time.sleep(0.1); write('validation_predictions', 'id,y\n11,1\n')"),
    ] {
        check(&with_sample, incomplete, ScriptEnd::TimedOut).await;
    }
}

#[tokio::test]
async fn variants_of_a_study_are_scored_beside_the_unchanged_solution() {
    let table = |of: fn(usize) -> f64| (0..40).map(|id| format!("{id},{}\n", of(id))).collect::<String>();
    let labels = format!("id,y\n{}", table(|id| id as f64));
    let world = world(&labels, Metric::Mae, Some("id")).await;
    let wrote = [table(|id| id as f64 + 2.0), "99,1\n".to_owned(), table(|id| id as f64 + (id % 2) as f64)];
    let write = |(number, rows): (usize, &String)| {
        format!("open('final/variant_{number}.csv', 'w').write({:?})", format!("id,y\n{rows}"))
    };
    let script: Vec<String> = wrote.iter().enumerate().map(write).collect();
    let timed = request(&script.join("\n"), Duration::from_secs(30));
    let outcome = world.runner().run(&ScriptRequest { purpose: Purpose::Ablation, ..timed }).await.unwrap();
    let [unchanged, better] = &outcome.variants[..] else { panic!("{outcome:?}") };
    assert_eq!((unchanged.number, unchanged.score, unchanged.difference), (0, 2.0, None));
    assert_eq!((better.number, better.score, better.difference.unwrap().by), (2, 0.5, -1.5));
    assert!(outcome.notes[0].starts_with("variant_1.csv has no score: "), "{outcome:?}");
    assert!(outcome.measured.is_none() && !outcome.is_error(), "{outcome:?}");
    let left = fs::read_dir(world.setup.run_folder.join("validation")).unwrap().count();
    assert_eq!(left, 0, "their predictions are not kept");
}

#[tokio::test]
async fn predictions_that_cannot_be_scored_are_explained() {
    let world = world(NUMBERS, Metric::Mae, Some("id")).await;
    let check = async |make: &str, expected: &str| {
        let script = format!(
            "import os\npath = 'final/validation_predictions.csv'\n{make}\nprint('Final Validation Performance: 0')"
        );
        let outcome = world.run(&script).await;
        assert_eq!((outcome.measured.as_ref(), outcome.score), (None, Some(0.0)), "{make}: {outcome:?}");
        assert!(said(&outcome).contains(expected), "{make}: {}", said(&outcome));
    };
    let text = async |text: &str, expected: &str| {
        check(&format!("open(path, 'w').write({text:?})"), expected).await;
    };
    check("open('x', 'w').write('id,y\\n11,1\\n')\nos.symlink('../x', path)", "lies behind a link").await;
    check("os.rename('final', 'x')\nos.symlink('x', 'final')", "lies behind a link").await;
    check("os.mkfifo(path)", "validation_predictions.csv is not a regular file").await;
    check("open(path, 'w').truncate(2 << 30)", "the file has 2048 MiB; it has at most 1024 MiB").await;
    check("open(path, 'w').truncate(100 << 20)", "the header is longer than 16 MiB").await;
    check("open(path, 'wb').write(b'id,y\\n11,\\xff\\n')", "row 1 is not UTF-8 text").await;
    text("id,y\n11,1\n99,1\n", "1 rows have an ID that is not expected, for example `99`").await;
    text("id,y\n11,1\n12,1\n11,1\n", "the ID `11` occurs more than once").await;
    text("id,y\n11,1\n12,nan\n", "the row with ID `12` has `nan` in column `y`").await;
}

/// Sends a signal to what computes scores in this world.
fn signal_planes(world: &World, signal: Signal) {
    let folder = world.file("work/plane").display().to_string();
    let is_plane = |process: &PathBuf| {
        let has = |name: &str, wanted: &str| {
            let text = fs::read(process.join(name)).unwrap_or_default();
            text.windows(wanted.len()).any(|part| part == wanted.as_bytes())
        };
        has("cmdline", "mle_star_data") && has("environ", &folder)
    };
    let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let numbers = processes.filter(is_plane).map(|process| process.file_name().unwrap().to_owned());
    let planes: Vec<i32> = numbers.map(|number| number.to_str().unwrap().parse().unwrap()).collect();
    assert!(!planes.is_empty());
    planes.into_iter().for_each(|plane| _ = kill(Pid::from_raw(plane), signal));
}

/// A score that does not come in the time that is left is that script's failure, and the next script has one.
#[tokio::test]
async fn a_score_that_does_not_come_in_time_is_a_failure_of_the_script() {
    let world = world(NUMBERS, Metric::Mae, Some("id")).await;
    let exact = script("id,y\n11,1\n12,3\n14,3\n", "0.5");
    let runner = world.runner();
    let request = ScriptRequest { time_left: Duration::ZERO, ..request(&exact, Duration::from_secs(60)) };
    let first = runner.run(&request).await.unwrap().measured.unwrap();
    let kept = FileStem::new(&request.place, &exact);
    let predictions = world.file(&format!("validation/{}.csv", kept.name()));
    fs::remove_file(&predictions).unwrap();
    signal_planes(&world, Signal::SIGSTOP);
    let time_passes = async {
        loop {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if predictions.exists() {
                tokio::time::pause();
                tokio::time::advance(Duration::from_secs(20)).await;
                tokio::time::resume();
            }
        }
    };
    let late = tokio::select! {
        outcome = runner.run(&request) => outcome.unwrap(),
        () = time_passes => unreachable!(),
    };
    let expected = "./final/validation_predictions.csv cannot be scored: the answer takes longer than the 20 s that are left";
    assert_eq!((late.mismatch.as_deref(), late.measured.as_ref()), (Some(expected), None), "{late:?}");
    assert_eq!(runner.run(&request).await.unwrap().measured.unwrap(), first);
}

/// What computes scores may be killed at any moment: it starts again, and the same question has the same answer.
#[tokio::test]
async fn a_killed_data_plane_is_started_again() {
    let world = world(NUMBERS, Metric::Mae, Some("id")).await;
    let exact = script("id,y\n11,1\n12,3\n14,3\n", "0.5");
    let runner = world.runner();
    let run = async || {
        let request = request(&exact, Duration::from_secs(60));
        runner.run(&request).await.unwrap().measured.unwrap()
    };
    let first = run().await;
    for killed_while_it_works in [false, true] {
        let end = || signal_planes(&world, Signal::SIGKILL);
        let again = if killed_while_it_works {
            let (again, ()) = tokio::join!(run(), async {
                tokio::time::sleep(Duration::from_millis(150)).await;
                end();
            });
            again
        } else {
            end();
            run().await
        };
        assert_eq!(again, first);
    }
}
