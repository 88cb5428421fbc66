//! What calls of libraries and of Python's own types do, as a table: `ROWS` says for each kind of receiver which names
//! have which effect.
//!
//! A further function of a library is one more name in a row. The interpreter never asks for names of calls: it looks an
//! effect up ([`of`]) and applies it ([`Machine::apply`](crate::machine::Machine)). A new effect is a variant here, a row,
//! and an arm where the effects of its kind are applied.

use std::collections::HashMap;
use std::sync::LazyLock;

use ruff_python_ast::{CmpOp, Operator};

/// What has a method, or where a function comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A table, a series or an array.
    Table,
    /// A table or an expression of polars, if the method does something else there.
    Polars,
    /// Rows in groups.
    Group,
    /// Functions of a library, by its first name. Libraries with the same functions go by the name of one of them.
    Library(&'static str),
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It gives the same values again, in a new object if they can change.
    Same,
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
    /// It asks whether all values are numbers, or are none.
    OfType { numbers: bool },
    /// It reads a table from a file.
    Read,
    /// It writes to a file.
    Written,
}

impl Effect {
    /// Whether a function has it on its first argument, as a method has it on what it is called on.
    pub(crate) fn is_as_of_method(self) -> bool {
        let of_all = matches!(self, Self::Values(Values::Elementwise | Values::Numeric | Values::Best));
        let of_values = matches!(self, Self::Rows(_) | Self::Columns(_) | Self::Values(_) | Self::Test(_));
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
    Affixed { before: bool },
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
    /// The same, of numbers.
    Numeric,
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
    /// Whether it is in an interval.
    Between,
    /// Whether it is missing.
    Missing,
    /// Whether it is not missing.
    Present,
    /// Whether it is a number.
    Finite,
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
    /// The largest or smallest value of an array, or its place.
    Extreme,
    /// Sums by codes.
    Bins,
    /// Sums that are added to places which codes name.
    AddedAt,
    /// The coefficients of a least-squares fit.
    LeastSquares,
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
    /// Parts of an array of about the same size.
    Parts,
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
}

/// What is drawn at random.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Draw {
    /// Numbers, perhaps one for each row.
    Numbers,
    /// Whole numbers, which may be positions of rows.
    Integers,
    /// Rows in another order.
    Permutation,
    /// Rows, perhaps each of them several times.
    Rows,
    /// One number.
    Number,
    /// A generator of random numbers.
    Generator,
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

/// The effects of methods and functions: each row has a receiver, an effect, and the names that have it.
const ROWS: &[(Receiver, Effect, &str)] = {
    use Effect::{
        Columns as C, Draw as D, Expression as X, Make as M, Nothing, OfType, Order as O, Piped, Read,
        Rows as R, Same, Stack as K, Statistic as S, Test as T, Unknown, Values as V, Written,
    };
    use Receiver::{Group, Library, Polars, Table};
    const NUMPY: Receiver = Library("numpy");
    const PANDAS: Receiver = Library("pandas");
    const TORCH: Receiver = Library("torch");
    &[
        (
            Table,
            Same,
            "copy astype infer_objects convert_dtypes ffill bfill rename_axis sort_index cast collect lazy tocsr toarray
            todense float cpu detach type to cuda long double half int bool contiguous clone unsqueeze requires_grad_
            tolist to_list droplevel fill_null asfreq with_row_index items swaplevel",
        ),
        (Table, Piped, "pipe"),
        (Table, Nothing, "info hist plot"),
        (
            Table,
            R(Rows::Some),
            "dropna drop_duplicates head tail nlargest nsmallest truncate drop_nulls limit",
        ),
        (Table, R(Rows::Sampled), "sample"),
        (Table, R(Rows::Queried), "query"),
        (Table, R(Rows::At), "take reindex"),
        (Table, R(Rows::Others), "difference"),
        (Table, R(Rows::Below), "append"),
        (Table, R(Rows::Repeated), "repeat"),
        (Table, R(Rows::Each { numbered: true }), "iterrows"),
        (Table, R(Rows::Each { numbered: false }), "itertuples iter_rows"),
        (Table, R(Rows::Renumbered), "reset_index"),
        (Table, R(Rows::Batches), "split chunk"),
        (Table, C(Columns::Index), "set_index"),
        (Table, C(Columns::Label), "to_frame alias"),
        (Table, C(Columns::Renamed), "rename"),
        (Table, C(Columns::Affixed { before: true }), "add_prefix"),
        (Table, C(Columns::Affixed { before: false }), "add_suffix"),
        (Table, C(Columns::Reshaped), "unstack stack to_dict permute"),
        (Table, C(Columns::Dropped), "drop"),
        (Table, C(Columns::Taken), "pop"),
        (Table, C(Columns::Selected), "select filter"),
        (Table, C(Columns::Typed), "select_dtypes"),
        (Table, C(Columns::Assigned), "assign"),
        (Table, C(Columns::Inserted), "insert"),
        (Table, C(Columns::Merged), "merge join"),
        (Table, C(Columns::Got), "get"),
        (Table, C(Columns::Extended), "with_columns"),
        (
            Table,
            V(Values::Array),
            "to_numpy ravel flatten reshape squeeze transpose view numpy rank argsort argmax softmax log_softmax sigmoid
            tanh relu exp log clamp square sqrt expm1 log1p nan_to_num",
        ),
        (Table, V(Values::Cells), "where mask clip replace round abs"),
        (Table, V(Values::Filled), "fillna"),
        (Table, V(Values::Operator(Operator::Add)), "add"),
        (Table, V(Values::Operator(Operator::Sub)), "sub subtract"),
        (Table, V(Values::Operator(Operator::Mult)), "mul multiply"),
        (Table, V(Values::Operator(Operator::Div)), "div divide"),
        (Table, V(Values::Operator(Operator::Pow)), "pow"),
        (Table, V(Values::Product), "dot"),
        (Table, V(Values::Mapped), "map apply transform applymap map_elements"),
        (Table, T(Test::Compare(CmpOp::Eq)), "eq"),
        (Table, T(Test::Compare(CmpOp::NotEq)), "ne"),
        (Table, T(Test::Compare(CmpOp::Lt)), "lt"),
        (Table, T(Test::Compare(CmpOp::LtE)), "le"),
        (Table, T(Test::Compare(CmpOp::Gt)), "gt"),
        (Table, T(Test::Compare(CmpOp::GtE)), "ge"),
        (Table, T(Test::Among), "isin is_in"),
        (Table, T(Test::Between), "between is_between"),
        (Table, T(Test::Missing), "isna isnull"),
        (Table, T(Test::Present), "notna notnull"),
        (Table, O(Order::Sorted), "sort_values sort"),
        (Table, O(Order::Lagged), "shift cumcount"),
        (Table, O(Order::Differences), "diff pct_change"),
        (Table, O(Order::Cumulated), "cumsum cummax cummin cumprod"),
        (Table, O(Order::Window { itself: true }), "rolling expanding ewm"),
        (Table, O(Order::Window { itself: false }), "resample"),
        (Table, O(Order::Grouped), "groupby group_by"),
        (Table, S(Statistic::Mean), "mean median std var quantile mode agg aggregate"),
        (Table, S(Statistic::Sum), "max min sum count any all nunique skew kurt prod"),
        (Table, S(Statistic::Counts), "value_counts describe idxmax idxmin"),
        (Table, S(Statistic::Categories), "unique"),
        (Table, S(Statistic::Correlations), "corr corrwith cov"),
        (Table, S(Statistic::Pivot), "pivot_table pivot"),
        (Table, Written, "to_csv to_parquet to_pickle to_feather write_csv"),
        (Polars, Same, "over rechunk shrink_to_fit"),
        (Polars, R(Rows::Filtered), "filter"),
        (Polars, C(Columns::Expressed), "select"),
        (Table, C(Columns::OfPandas), "to_pandas"),
        (Polars, V(Values::Elementwise), "then otherwise replace_strict"),
        (
            Polars,
            O(Order::Cumulated),
            "cum_sum cum_max cum_min cum_prod rolling_mean rolling_sum rolling_std rolling_min rolling_max rolling_median
            ewm_mean ewm_std",
        ),
        (Group, Same, "reset_index"),
        (Group, Unknown, "groups indices get_group __iter__ head tail sample"),
        (Group, O(Order::Window { itself: true }), "rolling expanding ewm"),
        (Group, O(Order::Cumulated), "cumsum cummax cummin"),
        (Group, O(Order::Lagged), "shift cumcount ffill bfill ngroup"),
        (Group, O(Order::Differences), "diff pct_change"),
        (Group, O(Order::Ranked), "rank"),
        (Group, S(Statistic::Counts), "size count nunique len"),
        (Group, V(Values::Mapped), "transform apply"),
        (PANDAS, X(Expression::Named), "col"),
        (PANDAS, X(Expression::All), "all exclude"),
        (PANDAS, X(Expression::Value), "when lit"),
        (PANDAS, X(Expression::Count), "len count"),
        (PANDAS, Same, "from_pandas to_numeric get_dummies"),
        (PANDAS, M(Make::Table), "DataFrame Series"),
        (PANDAS, K(Stack::Tables), "concat"),
        (PANDAS, C(Columns::Merged), "merge merge_asof"),
        (PANDAS, V(Values::Array), "qcut"),
        (PANDAS, V(Values::Times), "to_datetime Timestamp"),
        (PANDAS, V(Values::Cut), "cut"),
        (PANDAS, V(Values::Codes), "factorize"),
        (PANDAS, T(Test::Missing), "isna isnull"),
        (PANDAS, T(Test::Present), "notna notnull"),
        (PANDAS, S(Statistic::Pivot), "pivot_table"),
        (PANDAS, OfType { numbers: true }, "is_numeric_dtype"),
        (PANDAS, OfType { numbers: false }, "is_object_dtype is_string_dtype is_categorical_dtype"),
        (PANDAS, S(Statistic::Crosstab), "crosstab"),
        (NUMPY, Read, "load genfromtxt loadtxt load_npz"),
        (NUMPY, M(Make::Blank), "zeros empty"),
        (NUMPY, M(Make::Constant), "ones full"),
        (NUMPY, M(Make::BlankLike), "zeros_like ones_like empty_like full_like"),
        (NUMPY, M(Make::Range), "arange"),
        (NUMPY, M(Make::Candidates), "linspace logspace geomspace"),
        (
            NUMPY,
            M(Make::Array),
            "array asarray ascontiguousarray ravel squeeze csr_matrix tensor from_numpy atleast_2d Tensor FloatTensor
            LongTensor",
        ),
        (NUMPY, M(Make::Positions), "flatnonzero"),
        (NUMPY, M(Make::Where), "where nonzero select"),
        (NUMPY, M(Make::Sorted), "argsort argpartition"),
        (NUMPY, M(Make::Without), "delete"),
        (NUMPY, M(Make::Others), "setdiff1d"),
        (NUMPY, M(Make::Unique), "unique"),
        (NUMPY, K(Stack::Below), "concatenate cat row_stack r_"),
        (NUMPY, K(Stack::Rows), "vstack"),
        (NUMPY, K(Stack::Row), "hstack"),
        (NUMPY, K(Stack::Beside), "column_stack c_"),
        (NUMPY, K(Stack::New), "stack"),
        (NUMPY, K(Stack::Two), "append"),
        (NUMPY, R(Rows::Repeated), "repeat tile"),
        (NUMPY, M(Make::Parts), "array_split split"),
        (NUMPY, D(Draw::Numbers), "rand random uniform normal randn random_sample standard_normal"),
        (NUMPY, D(Draw::Integers), "randint integers"),
        (NUMPY, D(Draw::Permutation), "permutation randperm"),
        (NUMPY, D(Draw::Rows), "choice"),
        (NUMPY, D(Draw::Number), "dirichlet"),
        (NUMPY, D(Draw::Generator), "default_rng RandomState"),
        (NUMPY, T(Test::Among), "isin in1d"),
        (NUMPY, T(Test::Finite), "isnan isfinite"),
        (NUMPY, V(Values::Product), "dot matmul"),
        (NUMPY, V(Values::Numeric), "log log1p log2 log10 sqrt exp expm1 clip power"),
        (TORCH, V(Values::Best), "max min topk sort"),
        (NUMPY, S(Statistic::MeanOf), "mean sum average nanmean nansum gmean"),
        (
            NUMPY,
            S(Statistic::Spread),
            "median std var nanmedian nanstd percentile quantile prod mode",
        ),
        (
            NUMPY,
            S(Statistic::Extreme),
            "max min amax amin argmax argmin nanargmax nanargmin nanmax nanmin",
        ),
        (NUMPY, S(Statistic::Bins), "bincount binned_statistic"),
        (NUMPY, S(Statistic::AddedAt), "at"),
        (NUMPY, S(Statistic::LeastSquares), "lstsq polyfit curve_fit nnls leastsq"),
        (NUMPY, Unknown, "intersect1d histogram shuffle corrcoef cov"),
    ]
};

/// The effects of each name, by receivers.
static EFFECTS: LazyLock<HashMap<&str, Vec<(Receiver, Effect)>>> = LazyLock::new(|| {
    let mut effects: HashMap<&str, Vec<(Receiver, Effect)>> = HashMap::new();
    for (receiver, effect, names) in ROWS {
        for name in names.split_whitespace() {
            effects.entry(name).or_default().push((*receiver, *effect));
        }
    }
    effects
});

/// The effect of a function, by its full name and the last part of that.
pub(crate) fn of_function(symbol: &str, name: &str) -> Option<Effect> {
    let reads = name.starts_with("read_") || name.starts_with("scan_");
    of(libraries(symbol), name).or_else(|| reads.then_some(Effect::Read))
}

/// The effect of a method or function, by the first of these receivers that has it.
pub(crate) fn of(receivers: &[Receiver], name: &str) -> Option<Effect> {
    let known = EFFECTS.get(name)?;
    receivers
        .iter()
        .find_map(|receiver| known.iter().find(|(of, _)| of == receiver).map(|(_, effect)| *effect))
}

/// The libraries whose functions a function may be, by its full name.
pub(crate) fn libraries(symbol: &str) -> &'static [Receiver] {
    match symbol.split('.').next().unwrap_or_default() {
        "pandas" | "polars" | "cudf" | "dask" => &[Receiver::Library("pandas")],
        "numpy" | "scipy" | "cupy" | "jax" | "np" => &[Receiver::Library("numpy")],
        "torch" => &[Receiver::Library("torch"), Receiver::Library("numpy")],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_receiver_has_one_effect() {
        for (name, effects) in EFFECTS.iter() {
            for (receiver, effect) in effects {
                let same = effects.iter().filter(|(other, _)| other == receiver);
                assert_eq!(same.count(), 1, "{receiver:?} {name}: {effect:?}");
            }
        }
    }
}
