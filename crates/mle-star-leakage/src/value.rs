//! Abstract values: what is known of a Python value.

use std::rc::Rc;

use crate::effects::Made;
use crate::info::{Dependencies, Scores};
use crate::rows::RowsId;
use crate::site::Site;
use crate::table::{Group, Mask, Table};
use ruff_text_size::TextRange;

/// What is known of a value.
#[derive(Clone, Debug, Default)]
pub(crate) enum Value {
    /// Nothing.
    #[default]
    Unknown,
    /// `None`.
    None,
    /// A constant.
    Bool(bool),
    /// A constant.
    Int(i64),
    /// A constant.
    Float(f64),
    /// A constant.
    Str(Rc<str>),
    /// A number, or several, that depend on data.
    Number(Rc<Number>),
    /// A text with values in it.
    Text(Rc<Text>),
    /// Something imported or built in, by its full name.
    Symbol(Rc<str>),
    /// A function of the script, and the scope around it.
    Function(usize, usize),
    /// A class of the script.
    Class(usize),
    /// Something that another value has.
    Bound(Rc<(Value, Bound)>),
    /// Something that can change, by its number.
    Object(usize),
    /// A tuple.
    Tuple(Rc<[Value]>),
    /// The number of rows.
    Length(RowsId),
    /// Names of columns.
    Names(Rc<Names>),
    /// A condition on values of which nothing else is known, or the positions of the rows that it holds for.
    Condition(Rc<Mask>),
}

/// What a value is of the one that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// A method, by its name.
    Method(Rc<str>),
    /// Items, of which that value stands for each.
    Items,
    /// A file that was opened; that value is its path.
    File,
    /// A function with some of its arguments: `partial(function, ...)`.
    Partial,
    /// The columns as rows: `array.T`.
    Transposed,
    /// What chooses rows and columns: `iloc`, `loc`, `at`, `iat`.
    Places,
    /// Its values as texts: `str`.
    Texts,
    /// Its values as times: `dt`.
    Times,
    /// Its values as categories: `cat`.
    Categories,
    /// The scores after each round of training.
    History,
    /// The scores of `cross_validate`: of training rows, and of validation rows.
    CrossScores,
}

/// A number that depends on data.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Number {
    /// What it depends on.
    pub(crate) deps: Dependencies,
    /// The scores that it is, or is computed from.
    pub(crate) scores: Scores,
    /// Its text, if it is known.
    pub(crate) text: Option<Rc<str>>,
    /// Whether it is drawn at random and depends on nothing else.
    pub(crate) random: bool,
    /// Whether it is computed from true values and nothing else.
    pub(crate) truth: bool,
    /// The rows whose true values it is a statistic of.
    pub(crate) of_truth: Option<RowsId>,
    /// Whether it is one of the values of a column.
    pub(crate) category: bool,
    /// The share of these rows that it counts. Negative: from the end.
    pub(crate) share: Option<(RowsId, f64)>,
    /// The column of polars that it is computed from.
    pub(crate) reduced: Option<Rc<Table>>,
    /// The row that it belongs to, if it is a value of one.
    pub(crate) row: Option<Rc<Row>>,
    /// Whether it is the difference of two scores of a curve.
    pub(crate) gap: bool,
}

/// One row of a table, or one value of a column, as in a loop over all of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// All rows.
    pub(crate) rows: RowsId,
    /// Whether it is the target.
    pub(crate) target: bool,
    /// The name of the column.
    pub(crate) label: Option<Rc<str>>,
    /// Whether it is the position of the row.
    pub(crate) index: bool,
    /// The table whose row it is, if it has columns.
    pub(crate) table: Option<Rc<Table>>,
}

impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        let key = |row: &Self| (row.rows, row.target, row.label.clone(), row.index);
        key(self) == key(other)
    }
}

/// A text with values in it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text {
    /// The fixed parts.
    pub(crate) fixed: String,
    /// The values.
    pub(crate) values: Vec<Value>,
}

/// Names of columns.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// All columns but these, where `sure`; otherwise an unknown choice.
    pub(crate) except: Vec<Rc<str>>,
    /// The names, if each of them is known.
    pub(crate) only: Vec<Rc<str>>,
    /// Whether `only` or `except` says which columns there are.
    pub(crate) sure: bool,
    /// The rows of the table whose columns they are.
    pub(crate) of: RowsId,
    /// The columns of that table of which something particular was known.
    pub(crate) known: Vec<Rc<str>>,
    /// What the choice of the columns depends on.
    pub(crate) deps: Dependencies,
    /// Whether it stands for one name at a time, as in a loop over all of them.
    pub(crate) each: bool,
}

/// Something that can change.
#[derive(Clone, Debug)]
pub(crate) enum Object {
    /// A table, a series or an array with one row per row of the data.
    Table(Table),
    /// Rows of a table in groups.
    Group(Group),
    /// A list.
    List(List),
    /// A dictionary.
    Dict(Dict),
    /// A model or another thing that is fitted.
    Estimator(Estimator),
    /// Something that makes folds.
    Splitter(Splitter),
    /// An instance of a class of the script.
    Instance(Instance),
    /// A study of a library of searches.
    Study(Number),
}

/// A list.
#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    /// What is in it.
    pub(crate) items: Vec<Value>,
    /// Whether number and order of the items are unknown.
    pub(crate) open: bool,
    /// The number of loops around the place where it was made.
    pub(crate) loops: usize,
    /// The number of items that were in it before a loop added more.
    pub(crate) fixed: usize,
    /// Where loops added items, and whether they did so under a condition.
    pub(crate) added: Vec<(Site, bool)>,
    /// The loop that added items.
    pub(crate) within: Option<TextRange>,
    /// Whether it is kept under a key of a dictionary.
    pub(crate) keyed: bool,
    /// The branch in which it was made.
    pub(crate) clause: TextRange,
}

/// A dictionary with texts as keys.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dict {
    /// What is in it.
    pub(crate) items: Vec<(Rc<str>, Value)>,
    /// Values with unknown keys.
    pub(crate) others: Vec<Value>,
}

/// An instance of a class of the script.
#[derive(Clone, Debug)]
pub(crate) struct Instance {
    /// The class.
    pub(crate) class: usize,
    /// Its attributes.
    pub(crate) attributes: Vec<(Rc<str>, Value)>,
}

/// Something that makes folds.
#[derive(Clone, Debug)]
pub(crate) struct Splitter {
    /// How rows are divided.
    pub(crate) kind: crate::rows::DivisionKind,
    /// Splitters with the same key make the same folds.
    pub(crate) key: Rc<str>,
    /// What the seed depends on.
    pub(crate) deps: Dependencies,
}

/// Something that is fitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Estimator {
    /// What it learns.
    pub(crate) role: Role,
    /// What else is known of it.
    pub(crate) known: Option<Made>,
    /// Where it was made.
    pub(crate) made: Site,
    /// What its settings depend on.
    pub(crate) deps: Dependencies,
    /// Whether it stops early.
    pub(crate) stops: bool,
    /// Whether a further fit goes on from what it learnt before.
    pub(crate) warm: bool,
    /// Whether it takes some columns of a table only, and it is not known which.
    pub(crate) selects: bool,
    /// What it learnt.
    pub(crate) fitted: Option<Fitted>,
}

/// What something learnt.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fitted {
    /// Where.
    pub(crate) site: Site,
    /// The rows that it was fitted on.
    pub(crate) rows: RowsId,
    /// What the features depended on.
    pub(crate) deps: Dependencies,
    /// Whether it had the target.
    pub(crate) with_target: bool,
    /// Whether it learnt from the target alone.
    pub(crate) of_target: bool,
    /// The scores of rows that were watched while it learnt.
    pub(crate) watched: Scores,
    /// The scores of all such rows by their names.
    pub(crate) named: Vec<(Rc<str>, Scores)>,
}

/// What something learns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Role {
    /// Nothing.
    Nothing,
    /// Statistics without the target.
    Transformer,
    /// Which features to use, by the target.
    Selector,
    /// Statistics of the target.
    TargetEncoder,
    /// Repeats or generates rows.
    Sampler,
    /// A model.
    #[default]
    Model,
    /// The best of several settings of a model.
    Search,
}

impl Number {
    /// The number as a value.
    pub(crate) fn value(self) -> Value {
        Value::Number(Rc::new(self))
    }
}

impl Fitted {
    /// What a model learnt from rows and their target.
    pub(crate) fn with_target(site: Site, rows: RowsId, deps: Dependencies) -> Self {
        Self { site, rows, deps, with_target: true, ..Self::default() }
    }
}

impl Value {
    /// A text constant.
    pub(crate) fn text(text: &str) -> Self {
        Self::Str(text.into())
    }

    /// A number that depends on these.
    pub(crate) fn number(deps: Dependencies, scores: Scores) -> Self {
        Number { deps, scores, ..Number::default() }.value()
    }

    /// A number that depends on these dependencies.
    pub(crate) fn learnt(deps: Dependencies) -> Self {
        Self::number(deps, Scores::default())
    }

    /// A number that is one of these scores.
    pub(crate) fn score(scores: Scores) -> Self {
        Self::number(Dependencies::default(), scores)
    }

    /// Something that another value has.
    pub(crate) fn of(base: Self, bound: Bound) -> Self {
        Self::Bound(Rc::new((base, bound)))
    }

    /// A method of a value.
    pub(crate) fn method(base: Self, name: &str) -> Self {
        Self::of(base, Bound::Method(name.into()))
    }

    /// What it is of which value, if it is something that another value has.
    pub(crate) fn bound(&self) -> Option<(&Self, &Bound)> {
        match self {
            Self::Bound(bound) => Some((&bound.0, &bound.1)),
            _ => None,
        }
    }

    /// Something to loop over, by an item that stands for all.
    pub(crate) fn each(item: Self) -> Self {
        Self::of(item, Bound::Items)
    }

    /// A number of which nothing is known.
    pub(crate) fn some_number() -> Self {
        Number::default().value()
    }

    /// The text of a constant.
    pub(crate) fn constant(&self) -> Option<Rc<str>> {
        match self {
            Self::None => Some("None".into()),
            Self::Bool(value) => Some(if *value { "True".into() } else { "False".into() }),
            Self::Int(value) => Some(value.to_string().into()),
            Self::Float(value) => Some(value.to_string().into()),
            Self::Str(text) => Some(Rc::clone(text)),
            Self::Number(number) => number.text.clone(),
            Self::Text(text) => text.constant(),
            _ => None,
        }
    }

    /// The name of a column: the text of a constant that is no number.
    pub(crate) fn name(&self) -> Option<Rc<str>> {
        self.constant().filter(|_| !self.is_constant_number())
    }

    /// The value, if it is a number that depends on data.
    pub(crate) fn if_number(&self) -> Self {
        if matches!(self, Self::Number(_)) { self.clone() } else { Self::Unknown }
    }

    /// The rows whose number it is.
    pub(crate) fn length(&self) -> Option<RowsId> {
        match self {
            Self::Length(rows) => Some(*rows),
            _ => None,
        }
    }

    /// The share of rows that it counts.
    pub(crate) fn share(&self) -> Option<(RowsId, f64)> {
        match self {
            Self::Length(rows) => Some((*rows, 1.0)),
            Self::Number(number) => number.share,
            _ => None,
        }
    }

    /// The text of a text constant.
    pub(crate) fn as_str(&self) -> Option<&str> {
        match self {
            Self::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is a constant.
    pub(crate) fn as_number(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// Whether it is a constant number.
    pub(crate) fn is_constant_number(&self) -> bool {
        self.as_number().is_some()
    }
}
