//! Data folders with unusual values, from their profile to scripts that a real Python runs.

use std::fs;
use std::path::Path;

use mle_star_domain::protocol::LabelColumns;
use mle_star_domain::role::AgentType;
use mle_star_domain::score::parse_score;
use mle_star_domain::task::{Roles, Task};
use mle_star_leakage::Facts;
use mle_star_needs::needs;
use mle_star_offline::OfflineAgents;
use mle_star_tables::metrics::Metric;
use mle_star_tables::profile::Profile;
use mle_star_tables::task_inference::InferredTask;
use serde_json::json;

use super::ask::{Asked, ensembles, merged, refinements};
use super::python::{Batch, Done, assert_faultless, fault, initial, interpreter, with_few_trees};
use super::tasks::{Random, agents_for};

pub(super) const TRAIN_ROWS: usize = 90;

/// The name of a further table, and its text.
pub(super) type Further = (&'static str, fn() -> String);

/// A data folder. The functions get the number of a row and two random numbers between 0 and 1, which determine the
/// targets.
#[derive(Clone, Copy)]
pub(super) struct Folder {
    pub(super) name: &'static str,
    pub(super) metric: &'static str,
    /// The columns before the targets.
    pub(super) features: &'static str,
    pub(super) cells: fn(usize, [f64; 2]) -> String,
    pub(super) targets: &'static str,
    pub(super) labels: fn(usize, [f64; 2]) -> String,
    /// The predicted columns of the sample submission, and their values.
    pub(super) wanted: (&'static str, &'static str),
    /// The model that solves the task.
    pub(super) families: &'static [&'static str],
    /// The rows of the training table and of the test table.
    pub(super) rows: usize,
    pub(super) test_rows: usize,
    /// Scripts read at most this many training rows.
    pub(super) limit: u32,
    /// The rows of the training table that the profile counts, if the folder has fewer.
    pub(super) counted_rows: Option<usize>,
    /// The names and texts of further tables.
    pub(super) further: &'static [Further],
}

/// Two numbers and a class.
pub(super) const PLAIN: Folder = Folder {
    name: "plain",
    metric: "accuracy",
    features: "id,a,b",
    cells: |row, [a, b]| format!("{row},{a:.3},{b:.3}"),
    targets: "y",
    labels: |_, [a, b]| if a + b > 1.0 { "yes".to_owned() } else { "no".to_owned() },
    wanted: ("y", "no"),
    families: &["LightGBM", "Linear model"],
    rows: TRAIN_ROWS,
    test_rows: 12,
    limit: 30_000,
    counted_rows: None,
    further: &[],
};

impl Folder {
    /// Writes the tables.
    pub(super) fn write(&self, into: &Path) {
        let mut random = Random(11);
        let mut train = format!("{},{}\n", self.features, self.targets);
        let mut test = format!("{}\n", self.features);
        let id = self.features.split(',').next().unwrap();
        let mut sample = format!("{id},{}\n", self.wanted.0);
        for row in 0..self.rows + self.test_rows {
            let numbers = [random.next(), random.next()];
            let cells = (self.cells)(row, numbers);
            if row < self.rows {
                train.push_str(&format!("{cells},{}\n", (self.labels)(row, numbers)));
            } else {
                test.push_str(&format!("{cells}\n"));
                sample.push_str(&format!("{},{}\n", cells.split(',').next().unwrap(), self.wanted.1));
            }
        }
        for (name, text) in [("train", train), ("test", test), ("sample_submission", sample)] {
            fs::write(into.join(format!("{name}.csv")), text).unwrap();
        }
        for (name, text) in self.further {
            fs::write(into.join(format!("{name}.csv")), text()).unwrap();
        }
    }

    /// The task that the tables and the metric imply, and the tables.
    pub(super) fn read(&self, data_dir: &Path) -> (Task, Profile) {
        let facts = mle_star_needs::inspect(data_dir, &json!({ "metric": self.metric }));
        let found = InferredTask::parse(&facts).unwrap();
        let task = Task {
            competition_id: self.name.to_owned(),
            task_type: found.task_type,
            data_modality: found.data_modality,
            evaluation_metric: found.metric,
            metric_direction: found.direction,
            description: String::new(),
            data_dir: data_dir.to_owned(),
            roles: Roles { target: found.roles.target, id: found.roles.id, ..Roles::default() },
            ..mle_star::testing::task()
        };
        let mut profile = Profile::of(&facts).unwrap().unwrap();
        profile.train.rows = self.counted_rows.unwrap_or(self.rows);
        (task, profile)
    }

    /// The rule-based agents for the task.
    pub(super) fn agents(&self) -> OfflineAgents {
        let dir = tempfile::tempdir().unwrap();
        self.write(dir.path());
        let (task, profile) = self.read(dir.path());
        agents_for(&task, &profile, self.limit, None)
    }

    /// Why the agents refuse the task.
    pub(super) fn refusal(&self) -> String {
        let dir = tempfile::tempdir().unwrap();
        self.write(dir.path());
        let (task, profile) = self.read(dir.path());
        OfflineAgents::new(&task, &profile, self.limit, None).unwrap_err().message
    }

    /// What is wrong with a finished script; empty if nothing is.
    pub(super) fn faults(&self, done: &Done) -> String {
        let read = |name: &str| fs::read_to_string(done.folder.join(name)).unwrap_or_default();
        let (sample, submission) = (read("input/sample_submission.csv"), read("final/submission.csv"));
        let ids = |table: &str| -> Vec<String> {
            table.lines().map(|line| line.split(',').next().unwrap().to_owned()).collect()
        };
        let gaps =
            submission.lines().any(|line| line.split(',').any(|cell| matches!(cell, "" | "nan" | "inf")));
        let fine = ids(&sample) == ids(&submission)
            && sample.lines().next() == submission.lines().next()
            && !gaps
            && done.stderr.is_empty();
        match (fine, self.recomputed(done)) {
            (true, Ok(())) => String::new(),
            (_, Ok(())) => format!("{}\n{submission}", fault(done)),
            (_, Err(why)) => format!("{}\n{why}", fault(done)),
        }
    }

    /// Compares the printed score with the program's own.
    fn recomputed(&self, done: &Done) -> Result<(), String> {
        let input = done.folder.join("input");
        let (task, profile) = self.read(&input);
        let target = task.target().unwrap().to_owned();
        let further = profile.targets(&target, task.roles.id.as_deref()).into_iter();
        let further = further.filter(|name| *name != target).map(str::to_owned).collect();
        let columns = LabelColumns { further, ..LabelColumns::new(task.roles.id.clone(), target) };
        let header: Vec<String> = format!("id,{}", self.wanted.0).split(',').map(str::to_owned).collect();
        let found = mle_star_needs::ask(&json!({
            "question": "score",
            "metric": Metric::parse(self.metric).unwrap().name(),
            "answers": input.join("train.csv"),
            "columns": columns,
            "layout": { "header": header, "id": task.roles.id },
            "submission": done.folder.join("final/validation_predictions.csv"),
            "is_part": true,
        }));
        let score = found["score"].as_f64().ok_or_else(|| found.to_string())?;
        let printed = parse_score(&done.stdout).ok_or("no score")?;
        let agree = (printed - score).abs() <= 1e-9 * printed.abs().max(1e-9);
        if agree { Ok(()) } else { Err(format!("{printed} was printed, but the score is {score}")) }
    }
}

/// The first scripts of these folders run and do what they should.
pub(super) fn check(folders: &[Folder]) {
    let mut batch = Batch::new();
    let mut of = Vec::new();
    for folder in folders {
        let agents = folder.agents();
        for family in folder.families {
            let label = format!("{} {family}", folder.name);
            batch.add_alone(label, &with_few_trees(&initial(&agents, family)), |input| folder.write(input));
            of.push(folder);
        }
    }
    let done = batch.run(&interpreter());
    assert_faultless(of.iter().zip(&done).map(|(folder, done)| folder.faults(done)));
}

/// Merged, changed, combined and ablation scripts of these folders run and do what they should. Each folder has many
/// changes.
pub(super) fn check_changed(folders: &[Folder]) {
    let mut batch = Batch::new();
    let mut of = Vec::new();
    for folder in folders {
        let agents = folder.agents();
        let asked = Asked { agents: &agents, place: "phase2/path-0/t0" };
        let families = [folder.families[0], folder.families[1]];
        let script = merged(&asked, families);
        let changed = refinements(&asked, &script);
        let combined = ensembles(&asked, &[&script, &initial(&agents, families[0])]);
        let (changes, combinations) = (changed.len(), combined.len());
        assert!(changes > 8 && combinations > 0, "{}: {changes} {combinations}", folder.name);
        let inputs = json!({ "solution_script": script, "previous_ablations": [] });
        let ablation = asked.code(AgentType::Ablation, None, inputs);
        let all = [("merged".to_owned(), script), ("ablation".to_owned(), ablation)];
        for (label, script) in all.into_iter().chain(changed).chain(combined) {
            batch.add_alone(format!("{} {label}", folder.name), &with_few_trees(&script), |input| {
                folder.write(input);
            });
            of.push(folder);
        }
    }
    let check = |(folder, done): (&&Folder, &Done)| {
        let studied = done.label.ends_with("ablation") && done.stdout.matches("Without ").count() >= 3;
        if studied && done.stderr.is_empty() { String::new() } else { folder.faults(done) }
    };
    assert_faultless(of.iter().zip(&batch.run(&interpreter())).map(check));
}

/// Runs the first scripts of these folders with a check at their end.
pub(super) fn check_with(folders: &[(Folder, &str)]) {
    let mut batch = Batch::new();
    for (folder, python) in folders {
        let script = with_few_trees(&initial(&folder.agents(), folder.families[0]));
        assert!(mle_star_leakage::check(&script, &Facts::default()).unwrap().is_empty(), "{script}");
        batch.add_alone(folder.name.to_owned(), &format!("{script}\n{python}"), |input| folder.write(input));
    }
    let done = batch.run(&interpreter());
    assert_faultless(folders.iter().zip(&done).map(|((folder, _), done)| folder.faults(done)));
}

fn large(row: usize, number: f64) -> String {
    match row % 17 {
        3 => "inf".to_owned(),
        5 => "-inf".to_owned(),
        7 => "1e308".to_owned(),
        8 => "-1e300".to_owned(),
        _ => format!("{number:.3}"),
    }
}

const MOST: &[&str] = &["LightGBM", "XGBoost", "CatBoost", "Extra trees", "Linear model"];

#[test]
fn unusual_features_are_no_obstacle() {
    needs!(Libraries);
    check(&[
        PLAIN,
        Folder {
            name: "infinite features",
            cells: |row, [a, b]| format!("{row},{},{}", large(row, a), large(row + 4, b)),
            families: MOST,
            ..PLAIN
        },
    ]);
}

/// A row of the test table has this number or a larger one.
const FIRST_TEST_ROW: usize = TRAIN_ROWS;

/// A number, a text, a category and a date, all of them missing in the test table.
fn only_in_train(row: usize, number: f64) -> String {
    if row >= FIRST_TEST_ROW {
        return ",,,".to_owned();
    }
    format!("{number:.3},a text of words and of number {row},c{},2024-01-{:02}", row % 3, row % 28 + 1)
}

#[test]
fn every_bad_table_ends_in_a_submission() {
    needs!(Libraries);
    check(&[
        Folder {
            name: "everything missing in test",
            features: "id,a,text,kind,day",
            cells: |row, [a, _]| format!("{row},{}", only_in_train(row, a)),
            families: MOST,
            ..PLAIN
        },
        Folder {
            name: "constant and equal columns",
            features: "id,a,again,same,word,kind,also",
            cells: |row, [a, _]| format!("{row},{a:.3},{a:.3},7,one,c{},c{}", row % 3, row % 3),
            families: MOST,
            ..PLAIN
        },
        Folder { name: "one test row, numbers", test_rows: 1, families: MOST, ..TWO_NUMBERS },
    ]);
}

#[test]
fn rows_that_were_not_looked_at_are_no_obstacle() {
    needs!(Libraries);
    let known = Folder { counted_rows: Some(200_000), families: MOST, ..PLAIN };
    let whole = Folder {
        cells: |row, [a, b]| match row {
            70 => format!("{row},unknown,{b:.3}"),
            71 => format!("{row},{a:.3},inf"),
            95 => format!("{row},,n.d."),
            _ => format!("{row},{a:.3},{b:.3}"),
        },
        labels: |row, [a, b]| match row {
            72 => String::new(),
            _ => u8::from(a + b > 1.0).to_string(),
        },
        ..known
    };
    let known = Folder { labels: |_, [a, b]| u8::from(a + b > 1.0).to_string(), ..known };
    let mut batch = Batch::new();
    for family in known.families {
        let script = with_few_trees(&initial(&known.agents(), family));
        batch.add_alone((*family).to_owned(), &script, |input| whole.write(input));
    }
    assert_faultless(batch.run(&interpreter()).iter().map(|done| whole.faults(done)));
}

#[test]
fn a_class_that_the_sample_lacks_is_predicted() {
    needs!(Libraries);
    let rare = Folder {
        name: "rare classes",
        metric: "log loss",
        limit: 45,
        labels: |row, [a, _]| match row {
            10 | 20 | 30 | 50 | 60 | 70 => format!("rare{row}"),
            _ => ["often", "seldom"][usize::from(a > 0.6)].to_owned(),
        },
        wanted: (
            "often,seldom,rare10,rare20,rare30,rare50,rare60,rare70",
            "0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125",
        ),
        families: MOST,
        ..PLAIN
    };
    check(&[
        rare,
        Folder { name: "rare classes, curves", metric: "ROC-AUC", ..rare },
        // Two classes are left for the means of towns.
        Folder {
            name: "one rare class",
            features: "id,a,b,town",
            cells: |row, [a, b]| format!("{row},{a:.3},{b:.3},town {}", row % 40),
            labels: |row, [a, _]| match row {
                20 => "rare".to_owned(),
                _ => ["often", "seldom"][usize::from(a > 0.6)].to_owned(),
            },
            wanted: ("often,seldom,rare", "0.4,0.3,0.3"),
            ..rare
        },
        Folder {
            name: "rare labels",
            metric: "accuracy",
            targets: "y,z",
            labels: |row, [a, b]| format!("{},{}", u8::from(row == 10), u8::from(a + b > 1.0)),
            wanted: ("y,z", "0,0"),
            ..rare
        },
    ]);
}

#[test]
fn unusual_labels_are_no_obstacle() {
    needs!(Libraries);
    check(&[
        Folder {
            name: "infinite target",
            metric: "RMSE",
            labels: |row, [a, b]| large(row, a + b),
            wanted: ("y", "0"),
            families: MOST,
            ..PLAIN
        },
        Folder {
            name: "one row of a class",
            metric: "ROC-AUC",
            labels: |row, _| u8::from(row == 40).to_string(),
            wanted: ("y", "0.5"),
            families: MOST,
            ..PLAIN
        },
        Folder {
            name: "leading zeros",
            cells: |row, [a, b]| format!("{row:06},{a:.3},{b:.3}"),
            labels: |_, [a, b]| if a + b > 1.0 { "007".to_owned() } else { "0010".to_owned() },
            wanted: ("y", "007"),
            ..PLAIN
        },
        Folder {
            name: "classes in another order",
            metric: "log loss",
            labels: |row, [a, _]| {
                if row == 40 { "7".to_owned() } else { ["10", "2", "1"][(a * 3.0) as usize].to_owned() }
            },
            wanted: ("c_10,c_7,c_1,c_2", "0.25,0.25,0.25,0.25"),
            families: MOST,
            ..PLAIN
        },
    ]);
}

#[test]
fn predictions_are_about_the_class_that_the_sample_names() {
    needs!(Libraries);
    let sexes = Folder {
        name: "a column with the name of the first class",
        metric: "average precision",
        labels: |_, [a, b]| if a + b > 0.8 { "female".to_owned() } else { "male".to_owned() },
        wanted: ("female", "0.5"),
        ..PLAIN
    };
    let capitals = Folder {
        name: "capitals come first",
        metric: "ROC-AUC",
        labels: |_, [a, b]| if a + b > 0.8 { "YES".to_owned() } else { "no".to_owned() },
        wanted: ("y", "0.5"),
        ..PLAIN
    };
    let three = Folder {
        name: "classes in another spelling",
        metric: "log loss",
        labels: |_, [a, _]| ["High", "Low", "Medium"][(a * 3.0) as usize].to_owned(),
        wanted: ("prob_low,prob_medium,prob_high", "0.3,0.3,0.4"),
        ..PLAIN
    };
    check(&[
        sexes,
        capitals,
        Folder { name: "capitals come first, F1", metric: "F1", wanted: ("y", "no"), ..capitals },
        three,
    ]);
}

/// Two numbers, scored like those of nomad2018.
pub(super) const TWO_NUMBERS: Folder = Folder {
    name: "two numbers",
    metric: "RMSLE",
    features: "id,group,atoms,angle",
    cells: |row, [a, b]| format!("{row},{},{a:.3},{b:.3}", row % 4 * 12),
    targets: "energy,gap",
    labels: |_, [a, b]| format!("{:.4},{:.4}", a * b, 3.0 * a + b),
    wanted: ("energy,gap", "0.1,1.5"),
    families: MOST,
    ..PLAIN
};

/// Three labels of a text, scored like those of jigsaw.
pub(super) const THREE_LABELS: Folder = Folder {
    name: "three labels",
    metric: "ROC-AUC",
    features: "id,comment",
    cells: |row, [a, b]| {
        let word = |number: f64, words: [&'static str; 2]| words[usize::from(number > 0.5)];
        format!(
            "x{row},\"well, {} you {} of day {row}\"",
            word(a, ["dear", "bad"]),
            word(b, ["friend", "fool"])
        )
    },
    targets: "toxic,rude,threat",
    labels: |row, [a, b]| format!("{},{},{}", u8::from(a > 0.5), u8::from(b > 0.6), u8::from(row == 13)),
    wanted: ("toxic,rude,threat", "0.5,0.5,0.5"),
    families: &["TF-IDF linear model", "LightGBM", "Extra trees"],
    ..PLAIN
};
