//! Questions about the predictions that runs left, and their answers: the third effect.
//!
//! A [`Question`] is whole as JSON: it names runs by the files that they left ([`Kept`]), and everything else that its answer
//! depends on is data of the run. The journal stores its [`Answer`] as JSON. A new question is a variant of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effects::{ScriptEnd, ScriptOutcome};
use crate::measure::{Difference, Measurement};
use crate::metric::Direction;
use crate::place::Place;
use crate::protocol::HoldoutPart;

/// The name of the files that a run left, without their endings: the place, and the beginning of the script's digest. If a run
/// is resumed with a larger limit, another script may run at the same place.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileStem(String);

/// A question about predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "question", rename_all = "snake_case")]
#[expect(clippy::large_enum_variant, reason = "there is one question at a time")]
pub enum Question {
    /// What is the score of the predictions for held-out rows?
    Look {
        /// The run that wrote them.
        run: FileStem,
        /// Which rows.
        part: HoldoutPart,
    },
    /// How do two runs compare on the validation rows that both predicted?
    Compare {
        /// A run.
        one: FileStem,
        /// The run that it is compared with.
        other: FileStem,
    },
    /// How alike are the errors of several runs on the validation rows that all of them predicted?
    Agreement {
        /// The runs.
        runs: Vec<FileStem>,
    },
    /// Which weights combine the predictions of several runs best?
    Select {
        /// The runs, best first, each with the seconds that it took.
        runs: Vec<(FileStem, f64)>,
        /// How long the chosen scripts may run together, in seconds.
        seconds: f64,
    },
    /// What becomes of the predictions of several runs if a script combines them? It is kept, and not run.
    Combine {
        /// The runs with their weights.
        runs: Vec<(FileStem, f64)>,
        /// How they are combined.
        by: CombinedBy,
        /// The name of the files that the script would leave.
        to: FileStem,
        /// The script.
        script: String,
        /// The score.
        measured: Measurement,
    },
    /// How do two fits of a solution differ in their predictions for the same rows of the test table?
    Fits {
        /// The run that had seen fewer rows.
        first: FileStem,
        /// The run on the original files.
        second: FileStem,
    },
    /// Why can copies of these rows with permuted columns not be made?
    Copies {
        /// The rows.
        on: ImportanceRows,
    },
    /// How much worse does a script predict labelled rows if a column is permuted?
    Importance {
        /// The run on copies of the rows, in each of which one column is permuted.
        run: FileStem,
        /// The run that predicted the same rows in the table that they come from.
        known: FileStem,
        /// The rows.
        on: ImportanceRows,
        /// Whether higher scores are better.
        direction: Direction,
    },
}

/// Defines [`Answer`] and its conversions from and into what answers each question.
macro_rules! answers {
    ($($(#[$doc:meta])* $variant:ident($answer:ty),)*) => {
        /// The answer to a [`Question`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "answer", rename_all = "snake_case")]
        pub enum Answer {
            $($(#[$doc])* $variant($answer),)*
        }
        $(
            impl From<$answer> for Answer {
                fn from(answer: $answer) -> Self {
                    Self::$variant(answer)
                }
            }

            impl TryFrom<Answer> for $answer {
                type Error = Answer;

                fn try_from(answer: Answer) -> Result<Self, Answer> {
                    match answer {
                        Answer::$variant(answer) => Ok(answer),
                        other => Err(other),
                    }
                }
            }
        )*
    };
}

answers! {
    /// To [`Question::Look`].
    Look(HoldoutScore),
    /// To [`Question::Compare`].
    Comparison(Comparison),
    /// To [`Question::Agreement`].
    Agreement(Agreement),
    /// To [`Question::Select`].
    Selection(Selection),
    /// To [`Question::Combine`]: what a run of the script would come to.
    Combination(Box<ScriptOutcome>),
    /// To [`Question::Fits`].
    Refit(Refit),
    /// To [`Question::Copies`].
    Copies(Copies),
    /// To [`Question::Importance`].
    Importance(Importance),
}

/// The result of scoring predictions for held-out rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldoutScore {
    /// The score; `None` if there is none.
    pub measured: Option<Measurement>,
    /// Why there is none; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// The comparison of two runs on the validation rows that both predicted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The number of these rows.
    pub rows: u64,
    /// How much larger the first score is on them; `None` if they are too few.
    pub difference: Option<Difference>,
    /// Why they cannot be compared, whatever the rows are; empty if they can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// How alike the errors of several runs are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The number of validation rows that all of them predicted.
    pub rows: u64,
    /// The run with the best score on these rows.
    pub best: usize,
    /// How much larger the score of each run is than that of the best one.
    pub differences: Vec<Option<Difference>>,
    /// The correlation of the errors of each pair of runs; `None` where one of them has no spread.
    pub correlations: Vec<Vec<Option<f64>>>,
    /// Why they cannot be compared; empty if they can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// The result of choosing weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The weight of each run. They add up to 1. Empty if no combination was found.
    pub weights: Vec<f64>,
    /// How predictions are combined.
    #[serde(default)]
    pub by: CombinedBy,
    /// The score of the combination on validation rows. The weights for each part of the rows come from the others.
    pub measured: Option<Measurement>,
    /// Whether it scores better than the best run, if that is chosen like the weights, by the other parts of the rows.
    #[serde(default)]
    pub is_better: bool,
    /// How much larger its score is than that of the best run, if that is chosen so, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead: Option<Difference>,
    /// Why there is no combination; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
    /// Why labels are combined although scripts left scores of the classes; empty if they are not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

/// How the predictions of several scripts become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CombinedBy {
    /// Numbers have a weighted mean.
    #[default]
    Mean,
    /// The label with the largest weight wins.
    Votes,
    /// Cells hold sets of labels; the set with the largest weight wins.
    Sets,
    /// Cells hold guesses, of which so many count: the first has the weight of its script, the second half of it, and so on. Those
    /// with the largest weights win.
    Guesses(u8),
    /// Each script left scores of the classes; the class with the largest weighted mean wins.
    ClassScores,
}

/// How two fits of a solution differ in their predictions for the same rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Refit {
    /// The number of rows.
    pub rows: u64,
    /// How alike they are, in a few words.
    pub words: String,
    /// Whether they differ by more than fits do.
    pub is_jump: bool,
    /// Why they were not compared; empty if they were.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// Why copies of rows cannot be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copies {
    /// In one clause; empty if they can.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// The labelled rows on which the importance of columns is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceRows {
    /// The held-out rows.
    #[default]
    HeldOut,
    /// The rows of the last validation fold, which the script was fitted without for this purpose.
    LastFold,
}

/// How much worse a script predicts labelled rows if a column is permuted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// The number of rows.
    pub rows: u64,
    /// Which rows they are.
    #[serde(default, skip_serializing_if = "ImportanceRows::is_held_out")]
    pub on: ImportanceRows,
    /// How often each column was permuted.
    pub repetitions: u64,
    /// The columns, the most important first; none if it is not known.
    pub columns: Vec<ColumnImportance>,
    /// Why it is not known, in one sentence; empty if it is.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub failure: String,
}

/// How much worse the score gets if a column is permuted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnImportance {
    /// The name of the column.
    pub column: String,
    /// How much worse the score gets, in the metric's unit. Below zero, the score is better without the column.
    pub difference: f64,
    /// Its 95 % interval: low, high. `null` if the score has no uncertainty.
    pub interval: Option<[f64; 2]>,
}

impl FileStem {
    /// What the run of this script at this place left.
    pub fn new(place: &Place, script: &str) -> Self {
        let digest = blake3::hash(script.as_bytes()).to_hex();
        Self(format!("{}.{}", place.file_stem(), &digest[..8]))
    }

    /// What a variant of this ablation study left.
    pub fn of_variant(&self, number: usize) -> Self {
        Self(format!("{}.variant-{number}", self.0))
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl Question {
    /// The place of the question in the step at `place`.
    pub fn place(&self, place: &Place) -> Place {
        place.join(match self {
            Self::Look { part, .. } => return Self::scoring_place(place, *part),
            Self::Compare { .. } => "common",
            Self::Agreement { .. } => "agreement",
            Self::Select { .. } => "weights",
            Self::Combine { .. } => "run",
            Self::Fits { .. } => "refit",
            Self::Copies { .. } => "copies",
            Self::Importance { .. } => "columns",
        })
    }

    /// The place of a look at these rows in the step at `place`.
    pub fn scoring_place(place: &Place, part: HoldoutPart) -> Place {
        place.join(format_args!("look-{}", part.name()))
    }

    /// What the journal compares with the question that was asked at its place before: all but the time that the clock leaves.
    pub fn input(&self) -> Value {
        let mut input = serde_json::json!(self);
        if let (Self::Select { .. }, Some(fields)) = (self, input.as_object_mut()) {
            fields.remove("seconds");
        }
        input
    }

    /// The answer if there is none, for this reason.
    pub fn unanswered(&self, why: impl Into<String>) -> Answer {
        let failure = why.into();
        match self {
            Self::Look { .. } => HoldoutScore { measured: None, failure }.into(),
            Self::Compare { .. } => Comparison { failure, ..Comparison::default() }.into(),
            Self::Agreement { .. } => Agreement { failure, ..Agreement::default() }.into(),
            Self::Select { .. } => Selection { failure, ..Selection::default() }.into(),
            Self::Combine { measured, .. } => {
                let (notes, measured) = (vec![failure], Some(measured.clone()));
                let end = ScriptOutcome::of(ScriptEnd::Exited { code: 0 });
                Box::new(ScriptOutcome { notes, measured, ..end }).into()
            }
            Self::Fits { .. } => Refit { failure, ..Refit::default() }.into(),
            Self::Copies { .. } => Copies { failure }.into(),
            Self::Importance { .. } => Importance::unknown(failure).into(),
        }
    }
}

impl ImportanceRows {
    /// What these rows are called, after their number.
    pub fn words(self) -> &'static str {
        match self {
            Self::HeldOut => "held-out rows",
            Self::LastFold => "validation rows of the last fold",
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    fn is_held_out(&self) -> bool {
        *self == Self::HeldOut
    }
}

impl Importance {
    /// One that is not known, for this reason.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self { failure: why.into(), ..Self::default() }
    }
}

impl ColumnImportance {
    /// Whether the score is better if the column is permuted, beyond chance.
    pub fn hurts(&self) -> bool {
        self.interval.is_some_and(|[_, high]| high < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_and_its_answer_are_readable_json() {
        let run = FileStem::new(&Place::from("phase2/path-0/t1/k2/run"), "print(1)\n");
        assert!(run.name().starts_with("phase2.path-0.t1.k2.run."), "{run:?}");
        let question = Question::Look { run: run.clone(), part: HoldoutPart::Whole };
        let json = format!(r#"{{"question":"look","run":"{}","part":"whole"}}"#, run.name());
        assert_eq!(serde_json::to_string(&question).unwrap(), json);
        assert_eq!(serde_json::from_str::<Question>(&json).unwrap(), question);
        let answer = question.unanswered("no predictions");
        let json = r#"{"answer":"look","measured":null,"failure":"no predictions"}"#;
        assert_eq!(serde_json::to_string(&answer).unwrap(), json);
        assert_eq!(serde_json::from_str::<Answer>(json).unwrap(), answer);
        assert_eq!(HoldoutScore::try_from(answer.clone()).unwrap().failure, "no predictions");
        assert_eq!(Refit::try_from(answer.clone()), Err(answer));
    }

    #[test]
    fn the_time_that_is_left_is_no_part_of_what_is_compared() {
        let select = |seconds, own| {
            let run = FileStem::new(&Place::from("phase1/candidate-0/run"), "");
            Question::Select { runs: vec![(run, own)], seconds }.input()
        };
        assert_eq!(select(10.0, 1.0), select(20.0, 1.0));
        assert_ne!(select(10.0, 1.0), select(10.0, 2.0));
    }
}
