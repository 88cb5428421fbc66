//! The task that is inferred from a folder of plain tables, and the questions that only the user can decide. The data plane, the
//! Python process that reads tables, infers it.
//!
//! `python/mle_star_data/roles.py` makes these values.

use std::fmt;

use mle_star_domain::metric::Direction;
use mle_star_domain::task::{DataModality, Roles, Targets, TaskType, TextColumn};
use mle_star_domain::trouble::{OpenQuestion, Trouble};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What scripts predict for classes that no training row has: the end of a sentence that begins with these classes.
pub const CLASSES_WITHOUT_ROWS: &str =
    "together they get the probability of one row more, 1 / (training rows + 1), and the others the rest";

/// What the user says of a task before its tables are read. What is `None` or empty is inferred.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskHints {
    /// The kind of problem.
    pub task_type: Option<TaskType>,
    /// The kind of data.
    pub data_modality: Option<DataModality>,
    /// The metric's name.
    pub metric: Option<String>,
    /// What the metric of a file is called.
    pub metric_file: Option<String>,
    /// Which scores win.
    pub direction: Option<Direction>,
    /// The roles of columns; one text may also name several targets, separated by commas.
    #[serde(flatten)]
    pub roles: Roles,
    /// The folds of the validation: a column, or a file.
    pub folds: Option<String>,
    /// The description of the task.
    pub description: String,
    /// Whether the training table comes from a file that marks missing cells, so that all its texts are values.
    pub marks_missing: bool,
    /// Whether an ID column is made if there is none.
    pub makes_ids: bool,
    /// The columns that are read as text, if that was decided before.
    pub text_columns: Option<Vec<TextColumn>>,
    /// Whether the training table is known to be missing or unreadable.
    pub without_tables: bool,
    /// Whether the training table may be missing.
    pub may_lack_tables: bool,
}

/// One inferred value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InferredValue {
    /// The task's field, for example `target_column`.
    pub field: String,
    /// Its value, as in a task file.
    pub value: String,
    /// The reason for this value.
    pub reason: String,
}

impl fmt::Display for InferredValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.field, self.value, self.reason)
    }
}

/// The task: what the user said, completed by what is inferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InferredTask {
    /// The kind of problem.
    pub task_type: TaskType,
    /// The kind of data.
    pub data_modality: DataModality,
    /// The metric's name.
    pub metric: String,
    /// Which scores win.
    pub direction: Direction,
    /// The roles of columns.
    pub roles: Roles,
    /// The folds that the user gives.
    pub folds: Option<String>,
    /// The inferred values, in the order of a task file.
    pub guesses: Vec<InferredValue>,
    /// Why the target is unknown and how to set it, for agents that need it.
    pub target_unknown: Option<Trouble>,
    /// What only the user can decide.
    pub questions: Vec<OpenQuestion>,
}

/// The part of the facts that is about the task.
#[derive(Deserialize)]
struct TaskFacts {
    task_type: TaskType,
    data_modality: DataModality,
    metric: Option<String>,
    direction: Option<Direction>,
    targets: Vec<String>,
    id: Option<String>,
    roles: Roles,
    folds: Option<String>,
    guesses: Vec<InferredValue>,
    questions: Vec<OpenQuestion>,
}

impl InferredTask {
    /// Reads the task from these facts of the data plane.
    ///
    /// # Errors
    /// Questions are open, other than that of the target: some agents need none.
    pub fn parse(facts: &Value) -> Result<Self, Trouble> {
        let found = Self::parse_with_open_questions(facts)?;
        let is_open = found.questions.iter().any(|question| !asks_for_target(question));
        if is_open { Err(Trouble::asking(found.questions)) } else { Ok(found) }
    }

    /// The same, with open questions. A metric that is asked about is empty.
    ///
    /// # Errors
    /// The facts are of another build of the program.
    pub fn parse_with_open_questions(facts: &Value) -> Result<Self, Trouble> {
        let found = TaskFacts::deserialize(facts).map_err(|error| unreadable(&error))?;
        let target_question = found.questions.iter().find(|question| asks_for_target(question)).cloned();
        Ok(Self {
            task_type: found.task_type,
            data_modality: found.data_modality,
            metric: found.metric.unwrap_or_default(),
            direction: found.direction.unwrap_or(Direction::Maximize),
            roles: Roles {
                target: (!found.targets.is_empty()).then(|| found.targets.into()),
                id: found.id,
                ..found.roles
            },
            folds: found.folds,
            guesses: found.guesses,
            target_unknown: target_question.map(|question| Trouble::asking(vec![question])),
            questions: found.questions,
        })
    }

    /// All columns to predict.
    pub fn targets(&self) -> &[String] {
        self.roles.target.as_ref().map(Targets::all).unwrap_or_default()
    }

    /// Why a value was taken; `None` if the user said it.
    pub fn reason(&self, field: &str) -> Option<&str> {
        let guess = self.guesses.iter().find(|guess| guess.field == field);
        guess.map(|guess| guess.reason.as_str())
    }
}

fn asks_for_target(question: &OpenQuestion) -> bool {
    question.field == "target_column"
}

pub(crate) fn unreadable(error: &serde_json::Error) -> Trouble {
    Trouble::new(
        format!("the answer of the data plane cannot be read: {error}"),
        "report a defect of mle-star",
    )
}
