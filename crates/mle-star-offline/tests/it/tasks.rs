//! Small tasks with their profiles and data.

use std::path::Path;

use mle_star_domain::metric::Direction;
use mle_star_domain::protocol::{Split, SplitKind};
use mle_star_domain::task::{DataModality, Roles, Task, TaskType};
use mle_star_needs::Need;
use mle_star_offline::OfflineAgents;
use mle_star_tables::profile::{ClassColumn, Column, ColumnKind, GroupColumn, Media, Profile, Table};
use mle_star_tables::relations::{Link, Relations};
use serde_json::json;

/// Rows of a generated training table.
pub(crate) const ROWS: usize = 240;
/// Rows of one patient, in a table that has patients.
pub(crate) const PATIENT_ROWS: usize = 4;
/// Rows of a generated test table.
pub(crate) const NEW_ROWS: usize = 40;

/// What a generated task looks like.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) metric: &'static str,
    pub(crate) direction: Direction,
    /// Distinct labels; 0 for numbers.
    pub(crate) classes: usize,
    /// Labels are texts such as `c0`.
    pub(crate) text_labels: bool,
    /// Columns besides the two numbers: dates, texts, few and many categories, gaps.
    pub(crate) rich: bool,
    /// One sample column for every class.
    pub(crate) per_class: bool,
    /// Sample columns for classes that no training row has.
    pub(crate) absent: usize,
    /// A second table that joins by `place`.
    pub(crate) auxiliary: bool,
    /// Rows of four belong to one patient; the test table has other patients.
    pub(crate) grouped: bool,
    /// The column of the time, if validation is on later rows.
    pub(crate) time: Option<&'static str>,
    /// The training table has no id, and every tenth target is missing.
    pub(crate) incomplete: bool,
    /// Row limit of the search.
    pub(crate) subsample: u32,
}

pub(crate) fn shape(metric: &'static str, direction: Direction, classes: usize) -> Shape {
    Shape {
        metric,
        direction,
        classes,
        text_labels: false,
        rich: true,
        per_class: false,
        absent: 0,
        auxiliary: false,
        grouped: false,
        time: None,
        incomplete: false,
        subsample: 30_000,
    }
}

pub(crate) fn agents(shape: &Shape) -> OfflineAgents {
    agents_for(&task(shape), &profile(shape), shape.subsample, split(shape).as_ref())
}

/// The agents for a task that they can solve. Where nothing tells them the text of its metric, their scripts have another one, and
/// the test counts as skipped.
pub(crate) fn agents_for(task: &Task, profile: &Profile, limit: u32, split: Option<&Split>) -> OfflineAgents {
    let profile = Profile { relations: relations(task, profile, split), ..profile.clone() };
    let agents = OfflineAgents::new(task, &profile, limit, split).unwrap();
    let source = if mle_star_needs::is_missing(Need::Libraries) {
        "def score(truth, predicted, weight=None):\n    return np.average(truth == predicted, weights=weight)"
            .to_owned()
    } else {
        mle_star_needs::ask(&agents.question_of_metric())["source"].as_str().unwrap().to_owned()
    };
    agents.with_metric(Some(source))
}

/// The tables of a task's folder, as the data plane describes them.
pub(crate) fn profile_of(task: &Task, folder: &Path) -> Profile {
    let told = json!({ "target": task.roles.target, "id": task.roles.id, "metric": task.evaluation_metric,
        "direction": task.metric_direction });
    Profile::of(&mle_star_needs::inspect(folder, &told)).unwrap().unwrap()
}

/// How the tables of a task relate: as the data plane says, if there are any.
fn relations(task: &Task, profile: &Profile, split: Option<&Split>) -> Relations {
    let folder = &task.data_dir;
    if !folder.join("train.csv").exists() || mle_star_needs::is_missing(Need::Libraries) {
        return profile.relations.clone();
    }
    let told = json!({
        "target": task.roles.target, "id": task.roles.id, "metric": task.evaluation_metric,
        "weight": task.roles.weight, "ignored": task.roles.ignored,
    });
    let mut facts = mle_star_needs::inspect(folder, &told);
    facts["split"] = json!(split);
    let found = mle_star_needs::ask(&json!({ "question": "relations", "folder": folder, "facts": facts }));
    serde_json::from_value(found).unwrap()
}

/// A split by time, for a task that has times.
pub(crate) fn split(shape: &Shape) -> Option<Split> {
    shape.time.map(|column| by(SplitKind::Time, column))
}

pub(crate) fn by(kind: SplitKind, column: &str) -> Split {
    Split {
        kind,
        column: Some(column.to_owned()),
        why: "The test table shows it.".to_owned(),
        ..Split::default()
    }
}

pub(crate) fn task(shape: &Shape) -> Task {
    Task {
        competition_id: "small".to_owned(),
        task_type: if shape.classes > 0 { TaskType::Classification } else { TaskType::Regression },
        data_modality: DataModality::Tabular,
        evaluation_metric: shape.metric.to_owned(),
        metric_direction: shape.direction,
        description: "Predict the target.".to_owned(),
        data_dir: "/data".into(),
        roles: Roles {
            target: Some("target".to_owned().into()),
            id: Some("id".to_owned()),
            ..Roles::default()
        },
        ..mle_star::testing::task()
    }
}

pub(crate) fn column(name: &str, kind: ColumnKind, distinct: usize) -> Column {
    Column {
        name: name.to_owned(),
        kind,
        distinct,
        range: matches!(kind, ColumnKind::Integer | ColumnKind::Float).then_some((0.0, 5_000.0)),
        mean: matches!(kind, ColumnKind::Integer | ColumnKind::Float).then_some(2_500.0),
        mean_length: if kind == ColumnKind::Text { 500.0 } else { 5.0 },
        ..Column::default()
    }
}

pub(crate) fn label(shape: &Shape, class: usize) -> String {
    if shape.text_labels { format!("c{class}") } else { class.to_string() }
}

fn target(shape: &Shape) -> Column {
    let kind = match (shape.classes, shape.text_labels) {
        (0, _) => ColumnKind::Float,
        (_, true) => ColumnKind::Category,
        (_, false) => ColumnKind::Integer,
    };
    let distinct = if shape.classes == 0 { ROWS } else { shape.classes };
    let top_values = (0..shape.classes).map(|class| (label(shape, class), ROWS / shape.classes)).collect();
    let missing = if shape.incomplete { ROWS / 10 } else { 0 };
    let mut target = Column { top_values, missing, ..column("target", kind, distinct) };
    count_rarest(&mut target);
    target
}

/// Updates the share of the rarest value after the numbers of values.
pub(crate) fn count_rarest(column: &mut Column) {
    let rows = column.top_values.iter().map(|(_, rows)| *rows);
    column.rarest = rows.clone().min().map_or(0.0, |rarest| rarest as f64 / rows.sum::<usize>() as f64);
}

fn features(shape: &Shape) -> Vec<Column> {
    let mut columns = vec![
        column("id", ColumnKind::Integer, ROWS),
        column("size", ColumnKind::Float, ROWS),
        column("weight", ColumnKind::Float, ROWS),
    ];
    if shape.rich {
        columns.extend([
            Column { missing: 20, ..column("age", ColumnKind::Integer, 50) },
            column("colour", ColumnKind::Category, 4),
            column("place", ColumnKind::Category, 40),
            column("active", ColumnKind::Boolean, 2),
            column("day", ColumnKind::Date, 120),
            column("note", ColumnKind::Text, ROWS),
        ]);
    }
    if shape.grouped {
        columns.push(column("patient_id", ColumnKind::Integer, ROWS / PATIENT_ROWS));
    }
    columns
}

fn table(file: &str, rows: usize, columns: Vec<Column>) -> Table {
    Table { file: file.into(), rows, columns }
}

pub(crate) fn profile(shape: &Shape) -> Profile {
    let mut train = features(shape);
    train.push(target(shape));
    if shape.incomplete {
        train.remove(0);
    }
    let mut test = features(shape);
    test[0].distinct = NEW_ROWS;
    let id = column("id", ColumnKind::Integer, NEW_ROWS);
    let wanted: Vec<Column> = if shape.per_class {
        let name = |class| format!("p_{}", label(shape, class));
        (0..shape.classes + shape.absent).map(|class| column(&name(class), ColumnKind::Float, 1)).collect()
    } else {
        vec![column("target", ColumnKind::Float, 1)]
    };
    let class_column = |class| ClassColumn {
        column: format!("p_{}", label(shape, class)),
        class: (class < shape.classes).then(|| label(shape, class)),
    };
    let sample = std::iter::once(id).chain(wanted).collect();
    let places = vec![
        column("place", ColumnKind::Category, 40),
        column("height", ColumnKind::Float, 40),
        column("region", ColumnKind::Category, 3),
    ];
    Profile {
        class_columns: shape.per_class.then(|| (0..shape.classes + shape.absent).map(class_column).collect()),
        without_target: Vec::new(),
        train: table("train.csv", ROWS, train),
        test: Some(table("test.csv", NEW_ROWS, test)),
        sample: Some(table("sample_submission.csv", NEW_ROWS, sample)),
        auxiliary: if shape.auxiliary { vec![table("places.csv", 40, places)] } else { Vec::new() },
        other_files: Vec::new(),
        media: Media::default(),
        text_columns: Vec::new(),
        relations: Relations {
            links: if shape.auxiliary { vec![of_places()] } else { Vec::new() },
            ..Relations::default()
        },
        groups: if shape.grouped { vec![patients()] } else { Vec::new() },
    }
}

fn of_places() -> Link {
    let columns = || vec!["place".to_owned()];
    Link { table: 0, to: None, own: columns(), columns: columns(), unique: true, cutoffs: Vec::new() }
}

fn patients() -> GroupColumn {
    let (column, groups) = ("patient_id".to_owned(), ROWS / PATIENT_ROWS);
    GroupColumn { column, groups, ordered: true, counts_groups: true, is_name: true }
}

/// Writes the training table, the test table and the sample submission.
pub(crate) fn write_tables(folder: &Path, tables: [&str; 3]) {
    for (name, text) in ["train", "test", "sample_submission"].into_iter().zip(tables) {
        std::fs::write(folder.join(format!("{name}.csv")), text).unwrap();
    }
}

/// Writes the tables that [`profile`] describes.
pub(crate) fn write(shape: &Shape, folder: &Path) {
    let header: Vec<String> = features(shape).into_iter().map(|column| column.name).collect();
    let mut random = Random(7);
    let mut train = format!("{},target\n", header.join(","));
    for row in 0..ROWS {
        let (cells, signal) = cells(shape, &mut random, row);
        let target = match shape.classes {
            0 => format!("{:.3}", 20.0 + 10.0 * signal + random.next()),
            classes => label(
                shape,
                ((signal * classes as f64) as usize + usize::from(random.next() > 0.9)) % classes,
            ),
        };
        let target = if shape.incomplete && row % 10 == 3 { String::new() } else { target };
        train.push_str(&format!("{cells},{target}\n"));
    }
    let mut test = format!("{}\n", header.join(","));
    let sample_header: Vec<String> =
        profile(shape).sample.unwrap().columns.into_iter().map(|column| column.name).collect();
    let mut sample = format!("{}\n", sample_header.join(","));
    for row in 0..NEW_ROWS {
        test.push_str(&format!("{}\n", cells(shape, &mut random, ROWS + row).0));
        // The sample is in another order than the test table.
        let id = ROWS + NEW_ROWS - 1 - row;
        sample.push_str(&format!("{id}{}\n", ",0".repeat(sample_header.len() - 1)));
    }
    if shape.incomplete {
        let without_id = |line: &str| format!("{}\n", line.split_once(',').unwrap().1);
        train = train.lines().map(without_id).collect();
    }
    write_tables(folder, [&train, &test, &sample]);
    let places: String = (0..40).map(|place| format!("p{place},{place}.5,r{}\n", place % 3)).collect();
    if shape.auxiliary {
        std::fs::write(folder.join("places.csv"), format!("place,height,region\n{places}")).unwrap();
    }
}

/// The cells of a row, and a number in 0..1 that determines the target.
fn cells(shape: &Shape, random: &mut Random, row: usize) -> (String, f64) {
    let (size, weight) = (random.next(), random.next());
    let mut cells = vec![row.to_string(), format!("{size:.4}"), format!("{:.4}", weight * 1000.0)];
    if shape.rich {
        let colour = (size * 4.0) as usize;
        let age =
            if random.next() < 0.12 { String::new() } else { format!("{}", 20 + (weight * 50.0) as usize) };
        let words = ["good", "bad", "fine", "poor", "great"];
        let note: Vec<&str> = (0..4).map(|_| words[(random.next() * 5.0) as usize % 5]).collect();
        cells.extend([
            age,
            format!("colour{colour}"),
            format!("p{}", (random.next() * 40.0) as usize),
            if weight > 0.5 { "yes".to_owned() } else { "no".to_owned() },
            format!("2024-{:02}-{:02}", 1 + row % 12, 1 + row % 28),
            note.join(" "),
        ]);
    }
    if shape.grouped {
        cells.push((row / PATIENT_ROWS).to_string());
    }
    (cells.join(","), 0.7 * size + 0.3 * weight)
}

/// A small generator with the same sequence on every platform.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Uniform in 0..1.
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}
