"""Frames of pandas, and others that speak Arrow, as table files; and table files as frames."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

from ._program import Error

if TYPE_CHECKING:
    import pandas as pd


class ArrowTable(Protocol):
    """A table that speaks Arrow, such as one of polars or pyarrow."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class LazyTable(Protocol):
    """A frame of polars that is computed when it is needed."""

    def collect(self) -> Any: ...


#: What a run can be given: a path or a frame.
Table: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | ArrowTable | LazyTable"

#: What pandas finds in a column of objects that has one kind of value, which both formats can write.
_KINDS = {"string", "boolean", "integer", "floating", "mixed-integer-float", "decimal", "date", "datetime", "empty"}

#: What pandas and pyarrow raise for a value that a file cannot hold.
_UNFIT = (NotImplementedError, OverflowError, TypeError, ValueError)

#: How many of these are a second, for differences of times in Arrow.
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


def pandas() -> Any:
    """The module pandas.

    Raises:
        Error: It is not installed.
    """
    try:
        import pandas
    except ImportError as error:
        raise Error("pandas is not installed, and frames need it", "install it with `pip install pandas`") from error
    return pandas


def is_pandas(table: object) -> TypeGuard[pd.DataFrame]:
    """Whether this is a frame of pandas; imports nothing."""
    module = sys.modules.get("pandas")
    return module is not None and isinstance(table, module.DataFrame)


def is_frame(table: object) -> bool:
    """Whether this is a frame, and not a path."""
    return is_pandas(table) or hasattr(table, "__arrow_c_stream__") or _is_of_polars(table, "LazyFrame")


def as_pandas(table: Any) -> pd.DataFrame:
    """A frame that is none of pandas, with the types of Arrow.

    Raises:
        Error: It is no table.
    """
    made: pd.DataFrame = _arrow(table).to_pandas(types_mapper=pandas().ArrowDtype)
    return made


def _is_of_polars(table: object, *kinds: str) -> bool:
    module = sys.modules.get("polars")
    return module is not None and isinstance(table, tuple(getattr(module, kind) for kind in kinds))


def write(table: Any, stem: Path) -> Path:
    """Writes a frame to a file beside `stem`: Parquet if pyarrow is installed, else CSV.

    Raises:
        Error: The frame cannot become a table.
    """
    try:
        return _write_pandas(plain(table), stem) if is_pandas(table) else _write_arrow(table, stem)
    except _UNFIT as error:
        raise Error(
            f"the frame cannot be written: {error}", "change the type of that column, or leave it out"
        ) from error


def _write_pandas(frame: pd.DataFrame, stem: Path) -> Path:
    try:
        file = stem.with_name(f"{stem.name}.parquet")
        frame.to_parquet(file, engine="pyarrow", index=False)
    except ImportError:
        file = stem.with_name(f"{stem.name}.csv")
        frame.to_csv(file, index=False)
    return file


def _write_arrow(table: Any, stem: Path) -> Path:
    made, file = _arrow(table), stem.with_name(f"{stem.name}.parquet")
    from pyarrow import parquet

    parquet.write_table(made, file)
    return file


def _arrow(table: Any) -> Any:
    """The table with columns that any table file can hold.

    Raises:
        Error: It is no table, or pyarrow is not installed.
    """
    kind = f"{type(table).__module__}.{type(table).__qualname__}"
    try:
        import pyarrow
        from pyarrow import compute
    except ImportError as error:
        raise Error(
            f"pyarrow is not installed, and a {kind} needs it", "install it, or give a frame of pandas"
        ) from error
    try:
        made = _of_polars(table) if _is_of_polars(table, "DataFrame", "LazyFrame") else pyarrow.table(table)
    except _UNFIT as error:
        raise Error(f"a {kind} is no table: {error}", "give a frame, whose columns have names") from error
    for position, field in enumerate(made.schema):
        column = made.column(position)
        if pyarrow.types.is_duration(field.type):
            counts = column.cast("int64").cast("float64", safe=False)
            made = made.set_column(position, field.name, compute.divide(counts, _PER_SECOND[field.type.unit]))
        elif pyarrow.types.is_dictionary(field.type):
            made = made.set_column(position, field.name, column.cast(field.type.value_type))
    return made


def _of_polars(frame: Any) -> Any:
    """Its table of Arrow, in types that pyarrow knows. Whole numbers beyond 64 bits, which Arrow lacks, become text."""
    polars: Any = sys.modules["polars"]
    frame = frame.lazy().collect()
    large = [name for name, kind in frame.schema.items() if "Int128" in str(kind)]
    return frame.cast(dict.fromkeys(large, polars.String)).to_arrow(compat_level=polars.CompatLevel.oldest())


def plain(frame: Any) -> pd.DataFrame:
    """The frame with columns that any table file can hold. Levels of the index with a name become columns.

    Raises:
        Error: Names repeat, or a column holds what is neither a number, a truth value, a time nor a text.
    """
    if frame.columns.nlevels > 1:
        raise Error("the columns have several levels", 'join their names: frame.columns = frame.columns.map("_".join)')
    columns: dict[str, Any] = {}
    levels = [(str(name), level) for level, name in enumerate(frame.index.names) if name is not None]
    for name, level in levels:
        if name in columns:
            raise Error(f"two levels of the index are called {name!r}", "rename one of them")
        values = frame.index.get_level_values(level).to_series(index=frame.index)
        columns[name] = _plain_column(name, values)
    named = set(columns)
    for position, name in enumerate(map(str, frame.columns)):
        if name in columns:
            where = "a column and a level of the index are" if name in named else "two columns are"
            raise Error(f"{where} called {name!r}", "rename one of them; an index without a name is left out")
        columns[name] = _plain_column(name, frame.iloc[:, position])
    made: pd.DataFrame = pandas().DataFrame(columns, index=frame.index).reset_index(drop=True)
    return made


def _plain_column(name: str, column: Any) -> Any:
    pd = pandas()
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        # Whole numbers stay whole where some values are missing.
        categories = _plain_column(name, pd.Series(kind.categories)).convert_dtypes()
        return categories.reindex(column.cat.codes).set_axis(column.index)
    if isinstance(kind, pd.SparseDtype):
        return _plain_column(name, column.sparse.to_dense())
    if isinstance(kind, (pd.IntervalDtype, pd.PeriodDtype)):
        return column.astype("string")
    # Also of Arrow.
    if kind.kind == "m":
        return column.dt.total_seconds()
    if pd.api.types.is_object_dtype(kind):
        found = pd.api.types.infer_dtype(column, skipna=True)
        if found not in _KINDS:
            raise _odd(name, column)
        if found == "integer" and any(not -(2**63) <= value < 2**63 for value in column.dropna()):
            # More digits than a number of a table file has.
            return column.astype("string")
    elif pd.api.types.is_complex_dtype(kind):
        raise Error(f"column {name!r} holds complex numbers", "give real and imaginary part as two columns")
    return column


def _odd(name: str, column: Any) -> Error:
    values = column[column.notna()]
    kinds = list(dict.fromkeys(type(value).__name__ for value in values))
    what = f"mixes {' and '.join(kinds[:2])}" if len(kinds) > 1 else f"holds {kinds[0]} objects"
    hint = f'make it text, frame[{name!r}] = frame[{name!r}].astype("string"), or leave it out'
    return Error(
        f"column {name!r} {what}; a table holds numbers, truth values, times and texts, one kind in a column", hint
    )


def read(file: Path) -> pd.DataFrame:
    """A CSV file of the program as a frame.

    `NA`, and columns with digits after a leading zero, stay texts. Other columns that look like numbers or truth values
    become such.
    """
    read_csv = pandas().read_csv
    # In one piece: pieces of a column might have types of their own.
    frame: pd.DataFrame = read_csv(file, keep_default_na=False, na_values=[""], low_memory=False)
    written = read_csv(file, dtype=str, keep_default_na=False)
    for name in frame.columns:
        if written[name].str.match(r"[+-]?0\d").any():
            frame[name] = written[name].where(written[name] != "")
    return frame


def path_of(table: object) -> Path | None:
    """The path, if this is one; `None` for a frame.

    Raises:
        Error: It is neither.
    """
    if is_frame(table):
        return None
    if isinstance(table, (str, os.PathLike)):
        return Path(table)
    kind = f"{type(table).__module__}.{type(table).__qualname__}"
    raise Error(f"the data is a {kind}", "give a path or a frame of pandas")
