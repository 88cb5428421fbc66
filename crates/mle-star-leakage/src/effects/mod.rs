//! What calls of libraries, and of Python's own types, do: the kinds of effects. The table in `rows` says which names have
//! which.
//!
//! The interpreter does not ask for names of calls: it looks an effect up ([`of`]) and applies it (`apply`). A new effect is
//! a variant here, a row, and an arm where the effects of its kind are applied.

mod apply;
mod rows;

use std::sync::LazyLock;

use ruff_python_ast::{CmpOp, Operator};
use rustc_hash::FxHashMap;

use crate::info::How;
use crate::rows::DivisionKind;
use crate::value::Role;

/// What has a method, or where a function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Receiver {
    /// A table, a series or an array.
    Table,
    /// A table or an expression of polars, if the method does something else there.
    Polars,
    /// Rows in groups.
    Group,
    /// A list.
    List,
    /// A dictionary.
    Dict,
    /// Names of columns.
    Names,
    /// A text, or a path.
    Text,
    /// The values of a column as texts.
    Texts,
    /// A number, or several.
    Number,
    /// A model or another thing that is fitted.
    Estimator,
    /// A network, of a library or of the script.
    Network,
    /// Something that makes folds.
    Splitter,
    /// A study of a library of searches.
    Study,
    /// Functions that are built in.
    Builtin,
    /// Functions of a library, by its first name. Libraries with the same functions go by the name of one of them.
    Library(&'static str),
    /// Classes of things that are fitted, by what they learn.
    Class,
    /// Functions and classes that make such things, if more is known of these.
    Maker,
    /// Settings of models.
    Setting,
    /// What trains a network: the network itself, its optimiser or its loss.
    Trainer,
    /// What `with` statements begin.
    Context,
    /// What stands above the functions of classes.
    Decorator,
    /// Names in scripts that may reset a network.
    Reset,
    /// Functions and classes of any library.
    Any,
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It gives the same values again, in a new object if they can change.
    Same,
    /// It gives what it is called on, or its first argument.
    Itself,
    /// It gives what its argument makes of the values.
    Piped,
    /// It gives `None`, and changes nothing.
    Nothing,
    /// It gives something of which nothing is known.
    Unknown,
    /// It chooses, repeats or counts rows.
    Rows(Rows),
    /// It chooses, makes or names columns.
    Columns(Columns),
    /// It computes a value from each value, for the same rows.
    Values(Values),
    /// It tests each value.
    Test(Test),
    /// It puts rows in order, or takes them in their order.
    Order(Order),
    /// It computes something from many rows.
    Statistic(Statistic),
    /// It puts several arrays together.
    Stack(Stack),
    /// It makes a table, an array, or positions of rows.
    Make(Make),
    /// It draws something at random.
    Draw(Draw),
    /// It gives columns of the table that a method of polars is called on.
    Expression(Expression),
    /// It makes a number of any kind.
    Number,
    /// It changes a list or dictionary, or takes something out of it.
    Items(Items),
    /// It makes a text.
    Text(Text),
    /// It reads, writes or lists files, or prints.
    File(File),
    /// It is a function of Python's own.
    Python(Python),
    /// It fits a model or transformer, or uses what that learnt.
    Learn(Learn),
    /// It makes something that is fitted, and learns this.
    Role(Role),
    /// It divides rows, or does so for cross-validation.
    Split(Split),
    /// It computes scores, or searches for the best.
    Score(Score),
    /// It makes something that is fitted, trained or trained with.
    New(New),
    /// It makes something that is fitted, of which this is known.
    Made(Made),
    /// It trains a network, or ends a step of that.
    Step(Step),
    /// It is no call, but an attribute.
    Attribute(Attribute),
    /// It is no call, but a setting of a model, in which candidates of a search differ.
    Setting(How),
}

impl Effect {
    /// Whether a function has it on its first argument, as a method has it on what it is called on.
    pub(crate) fn is_as_of_method(self) -> bool {
        let of_all = matches!(
            self,
            Self::Values(Values::Elementwise | Values::Best)
                | Self::File(File::Printed | File::Table | File::Array)
        );
        let of_values = matches!(
            self,
            Self::Rows(_)
                | Self::Columns(_)
                | Self::Values(_)
                | Self::Test(_)
                | Self::File(_)
                | Self::Text(_)
        );
        of_values && !of_all || self == Self::Statistic(Statistic::Pivot)
    }
}

/// Which rows are left, or how they are repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Some of them; the same call on the same rows leaves the same ones.
    Some,
    /// Some of them, drawn at random.
    Sampled,
    /// Those for which a condition in a text holds.
    Queried,
    /// Those for which an expression of polars holds.
    Filtered,
    /// Those that an index names.
    At,
    /// The positions that another index does not have.
    Others,
    /// These, then those of another table.
    Below,
    /// Each of them several times.
    Repeated,
    /// One after the other, in a loop; with their numbers, or without.
    Each { numbered: bool },
    /// All of them, counted anew.
    Renumbered,
    /// Parts of an array, one after the other.
    Batches,
}

/// Which columns there are, or how they are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Columns {
    /// All but one, which names the rows.
    Index,
    /// The only one, under another name.
    Label,
    /// The same ones under other names.
    Renamed,
    /// The same ones, whose names begin with something more, or end with it.
    Affixed,
    /// Others, and it is not known which.
    Reshaped,
    /// All but some.
    Dropped,
    /// One of them, which the table loses.
    Taken,
    /// Some of them, by their names.
    Selected,
    /// Some of them, by their types.
    Typed,
    /// All, and further ones by the names of the arguments.
    Assigned,
    /// All, and one more.
    Inserted,
    /// All, and those of another table.
    Merged,
    /// One of them, by its name.
    Got,
    /// All, and those that expressions of polars make.
    Extended,
    /// Those that expressions of polars make.
    Expressed,
    /// The same ones, but no longer of polars.
    OfPandas,
}

/// What is computed from each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// Values without names of columns.
    Array,
    /// Values under the same names of columns.
    Cells,
    /// The same, where missing ones are filled from other columns or rows.
    Filled,
    /// The result of an operator.
    Operator(Operator),
    /// A product of matrices.
    Product,
    /// What a function makes of each of them.
    Mapped,
    /// What a function of the library makes of them, and of the other arguments.
    Elementwise,
    /// The best value in each row, and its place.
    Best,
    /// Times.
    Times,
    /// The intervals that they are in.
    Cut,
    /// A number for each value, and the values.
    Codes,
}

/// What is asked of each value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Test {
    /// How it compares with others.
    Compare(CmpOp),
    /// Whether it is one of several.
    Among,
    /// Whether it has a text in it.
    Part,
    /// Whether it is in an interval.
    Between,
    /// Whether it is missing.
    Missing,
    /// Whether it is not missing.
    Present,
    /// Whether it is a number.
    Finite,
    /// Whether it is false.
    Not,
}

/// In which order rows are, or which other rows a value is computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By the values of a column.
    Sorted,
    /// Values of other rows.
    Lagged,
    /// Differences to values of other rows.
    Differences,
    /// Sums and the like of all rows before, and of the row itself.
    Cumulated,
    /// Windows over rows before; of the row itself as well, or not.
    Window { itself: bool },
    /// The place of a value among all.
    Ranked,
    /// Groups of rows.
    Grouped,
}

/// What is computed from many rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Statistic {
    /// A mean and the like, which tells what values are usual.
    Mean,
    /// A sum, an extreme and the like.
    Sum,
    /// How many rows there are of each value, or which row is the first or last one.
    Counts,
    /// Which values there are.
    Categories,
    /// How columns go with each other.
    Correlations,
    /// Statistics of groups in a table.
    Pivot,
    /// Counts of groups in a table.
    Crosstab,
    /// The mean or sum of the items of a list, or of a whole array.
    MeanOf,
    /// The spread or a quantile of an array.
    Spread,
    /// The best value, or where it is.
    Best(Best),
    /// A statistic of groups for each row, of a number that a column of polars was reduced to.
    Over,
    /// Sums by codes.
    Bins,
    /// Sums that are added to places which codes name.
    AddedAt,
    /// The coefficients of a least-squares fit.
    LeastSquares,
}

/// What of the best values is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Best {
    /// The best one.
    Value,
    /// Where it is.
    Place,
    /// All in their order.
    Sorted,
}

/// How arrays are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stack {
    /// One below the other.
    Below,
    /// One below the other, or rows in a list.
    Rows,
    /// Side by side, or in a row if they have one axis.
    Row,
    /// Side by side.
    Beside,
    /// Along a new axis.
    New,
    /// Two of them, one below the other.
    Two,
    /// Tables, one below the other or side by side.
    Tables,
}

/// What is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Make {
    /// A table of columns.
    Table,
    /// One column, with or without a name.
    Series,
    /// An array of values in a table or list.
    Array,
    /// An array that is filled later.
    Blank,
    /// An array of a constant, such as equal weights.
    Constant,
    /// An array that is filled later, with the shape of another one.
    BlankLike,
    /// Positions up to a number.
    Range,
    /// Numbers that are tried all at once.
    Candidates,
    /// The positions of the rows for which a condition holds.
    Positions,
    /// The same in a tuple, or one of two values for each row.
    Where,
    /// The positions of rows in the order of their values.
    Sorted,
    /// The rows of an array but some.
    Without,
    /// The positions but some.
    Others,
    /// The values that there are, and their codes.
    Unique,
    /// A data set that a library has or makes; its features and its target, or a table.
    Example { parts: bool },
    /// A data set of a library, which the same arguments give again.
    Known,
}

/// What is drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    /// Numbers, perhaps one for each row.
    Numbers,
    /// Rows in another order.
    Permutation,
    /// Rows, perhaps each of them several times.
    Rows,
    /// One number.
    Number,
    /// Some rows, each at most once.
    Few,
    /// A setting of a trial.
    Trial,
    /// A generator of random numbers.
    Generator,
}

/// What happens with the items of a list or dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Items {
    /// One is added.
    Added,
    /// Those of another one are added.
    Extended,
    /// Some are removed.
    Removed,
    /// They are put in order.
    Sorted,
    /// One is taken by its key.
    Got,
    /// One is taken by its key, or put there.
    Default,
    /// The keys are taken.
    Keys,
    /// The values are taken.
    Values,
    /// The keys are taken with their values.
    Pairs,
}

/// What text is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// The text, with values in it.
    Formatted,
    /// What is between items of a list.
    Joined,
    /// Parts of a path.
    Path,
    /// The folder of a path.
    Folder,
    /// A value as text.
    Written,
    /// Whether it begins like this.
    Starts,
    /// Whether it ends like this.
    Ends,
    /// With one part replaced by another one.
    Replaced,
    /// In small letters.
    Lower,
    /// In capitals.
    Upper,
    /// Without space around it.
    Stripped,
}

/// What happens with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    /// A table is read from it.
    Table,
    /// An array is read from it.
    Array,
    /// It is opened.
    Opened,
    /// Something is written to it.
    Written,
    /// What was written to it is read.
    Loaded,
    /// The names of files that have a pattern.
    Matching,
    /// The names of files in a folder.
    InFolder,
    /// Something is printed.
    Printed,
}

/// What functions of Python's own do that need more than a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Python {
    /// The number of items or rows.
    Length,
    /// A value as a number.
    Number,
    /// The first or next item.
    Next,
    /// An attribute by its name.
    Attribute,
    /// The items as a list.
    List,
    /// A dictionary.
    Dict,
    /// A dictionary that makes its values.
    DefaultDict,
    /// The items of several values, side by side.
    Zip,
    /// The items with their numbers.
    Enumerated,
    /// What a function makes of the items.
    Mapped,
    /// A function with some of its arguments.
    Partial,
    /// What a field of a data class is by default.
    Field,
    /// All combinations of the items of several values.
    Product,
    /// All combinations of the items of one value.
    Combinations,
    /// The same in a new object, as far as a model is concerned.
    Copied,
    /// A model with the same settings that learnt nothing.
    Cloned,
}

/// What a model or transformer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Learn {
    /// It is fitted; on what it learnt before, or anew.
    Fit { further: bool },
    /// It is fitted, and transforms the same rows.
    FitTransform,
    /// It is fitted, and predicts for the same rows.
    FitPredict,
    /// It transforms rows.
    Transform,
    /// It takes values back to what they were before.
    Back,
    /// It predicts for rows.
    Predict,
    /// It is scored on rows.
    Score,
    /// It repeats or removes rows.
    Resample,
    /// It finds the nearest rows.
    Nearest,
    /// It tells what an attribute of it holds.
    Told(Attribute),
    /// It takes back what it learnt before.
    Restored,
    /// A table is scaled by its own statistics.
    Scaled,
}

/// How rows are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Split {
    /// Into two parts.
    Two,
    /// Into folds, by something that makes them.
    Folds,
    /// Into folds, whose scores are given.
    Scores,
    /// Into folds, whose scores of training rows are given as well.
    AllScores,
    /// Into folds, whose predictions are given.
    Predictions,
    /// Into folds of a data set of a library for boosting, whose scores are given.
    OfDataSet,
    /// Not at all: they are put in another order.
    Shuffled,
    /// Not at all: they are drawn again.
    Drawn,
}

/// What is scored, or searched for by scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Score {
    /// Predictions at each threshold.
    Curve,
    /// How features are associated with the target.
    Association,
    /// How one feature is correlated with the target.
    Correlation,
    /// How much samples differ.
    Samples,
    /// How much a model loses without a feature.
    Permutation,
    /// A function at its best argument.
    Optimised,
    /// A function of trials.
    Trials,
    /// Predictions, by true values; of numbers, or of any.
    Metric { numbers: bool },
    /// Predictions, by true values, while a network learns.
    Loss,
}

/// What is made that learns, or that is learnt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum New {
    /// Something that makes folds.
    Splitter(DivisionKind),
    /// A data set of a library for boosting.
    DataSet,
    /// A model that is trained at once.
    Trained,
    /// What stops the training of a model.
    Stopping,
    /// A model that is given its rows before it is fitted.
    Statistical,
    /// A study of a library of searches.
    Study,
    /// A data set of several tensors.
    Tensors,
    /// What gives batches of a data set.
    Loader,
    /// Parts of a data set.
    Parts,
}

/// What is known of something that is fitted, but for what it learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    /// It is put together from several transformers and models.
    Composed,
    /// The same, each of them for some of the columns.
    ByColumns,
    /// It chooses columns by a function, or in a way that is not known.
    Choosing,
    /// It projects features on axes that are learnt by the target, if it gets one.
    Projecting,
    /// The same, and the target on axes of its own.
    ProjectingBoth,
    /// It transforms features to predictions.
    Predicting,
    /// It removes rows to balance classes.
    Undersampling,
    /// It is a network that goes on learning with each fit.
    Training,
    /// It is a function of predictions and true values.
    Loss,
    /// It is a function that does what it is given.
    Doing,
    /// It knows how important features are to the model that it is made for.
    Explaining,
}

/// What a method does in the training of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// What was computed is learnt from.
    Learnt,
    /// What was computed before is not learnt from.
    Begun,
    /// From now on nothing is learnt from.
    Frozen,
    /// From now on what is computed may be learnt from.
    Open,
}

/// What an attribute of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribute {
    /// The value itself.
    Itself,
    /// Something of which nothing is known.
    Unknown,
    /// A constant number.
    Constant,
    /// The values without names.
    Values,
    /// The numbers of rows and columns.
    Shape,
    /// The number of rows.
    Length,
    /// The columns as rows.
    Transposed,
    /// The names of the columns.
    Names,
    /// What names the rows.
    Index,
    /// What chooses rows and columns.
    Places,
    /// The values as texts.
    Texts,
    /// The values as times.
    Times,
    /// The values as categories.
    Categories,
    /// What an optimiser found, beside the score that it reached.
    Found,
    /// The best score of a search, or of watched rows.
    BestScore,
    /// The settings with the best score.
    BestSettings,
    /// The scores after each round of training.
    History,
    /// The scores of all watched rows.
    Results,
    /// How important features are.
    Importances,
    /// The folder of a path.
    Folder,
}

/// Which columns an expression of polars is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    /// Those with these names.
    Named,
    /// All, or all but some.
    All,
    /// None: it is a value.
    Value,
    /// The number of rows.
    Count,
}

/// The effects of each name, by receivers.
static EFFECTS: LazyLock<FxHashMap<&str, Vec<(Receiver, Effect)>>> = LazyLock::new(|| {
    let mut effects: FxHashMap<&str, Vec<(Receiver, Effect)>> = FxHashMap::default();
    for (receiver, effect, name) in names().filter(|(_, _, name)| !name.contains('*')) {
        let known = effects.entry(name).or_default();
        debug_assert!(known.iter().all(|(of, _)| *of != receiver), "{receiver:?} has {name} twice");
        known.push((receiver, effect));
    }
    effects
});

/// How names begin and end that have an effect.
type Pattern = (&'static str, &'static str, Effect);

/// The effects of names by their beginnings and ends, for each receiver that has such.
static PATTERNS: LazyLock<FxHashMap<Receiver, Vec<Pattern>>> = LazyLock::new(|| {
    let mut patterns: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for (receiver, effect, name) in names() {
        let pattern = name.split_once('*').map(|(start, end)| (start, end, effect));
        patterns.entry(receiver).or_default().extend(pattern);
    }
    patterns
});

fn names() -> impl Iterator<Item = (Receiver, Effect, &'static str)> {
    let rows = rows::ROWS.iter();
    rows.flat_map(|(receiver, effect, names)| names.split_whitespace().map(|name| (*receiver, *effect, name)))
}

/// The effect of a method or function, by the first of these receivers that has it.
pub(crate) fn of(receivers: &[Receiver], name: &str) -> Option<Effect> {
    let known = EFFECTS.get(name).map(Vec::as_slice).unwrap_or_default();
    let named = |receiver: &Receiver| known.iter().find(|(of, _)| of == receiver).map(|(_, effect)| *effect);
    let fits = |(start, end, _): &&Pattern| name.starts_with(start) && name.ends_with(end);
    let alike = |receiver| PATTERNS.get(receiver)?.iter().find(fits).map(|(_, _, effect)| *effect);
    receivers.iter().find_map(named).or_else(|| receivers.iter().find_map(alike))
}

/// What an attribute of a value is.
pub(crate) fn attribute(receiver: Receiver, name: &str) -> Option<Attribute> {
    match of(&[receiver], name) {
        Some(Effect::Attribute(attribute)) => Some(attribute),
        _ => None,
    }
}

/// The receivers of functions of each library or part of one.
static LIBRARIES: LazyLock<FxHashMap<&str, &[Receiver]>> = LazyLock::new(|| {
    let rows = rows::LIBRARIES.iter();
    rows.flat_map(|(names, receivers)| names.split(' ').map(|name| (name, *receivers))).collect()
});

/// The effect of a function of a library, or of one that is built in, by its full name.
pub(crate) fn of_function(symbol: &str) -> Option<Effect> {
    match symbol.rsplit_once('.') {
        Some((_, name)) => of(libraries(symbol), name),
        None => of(&[Receiver::Builtin], symbol),
    }
}

/// The libraries whose functions a function may be, by its full name.
pub(crate) fn libraries(symbol: &str) -> &'static [Receiver] {
    if symbol.contains("metrics") {
        return LIBRARIES["metrics"];
    }
    let mut parts =
        std::iter::successors(Some(symbol), |part| part.rsplit_once('.').map(|(before, _)| before));
    parts.find_map(|part| LIBRARIES.get(part)).copied().unwrap_or(&[Receiver::Any])
}
