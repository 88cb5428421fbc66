"""Writes the typed files of the tests with pandas, pyarrow and openpyxl: python make.py. arrow-0.17.feather is
pyarrow's, and endless.parquet is index.parquet with a changed number of rows."""
import datetime as dt
import decimal
import os

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa

os.chdir(os.path.dirname(os.path.abspath(__file__)))
times = lambda *texts: pd.to_datetime(list(texts), format="ISO8601")
frame = pd.DataFrame({
    "int8": np.array([1, -2, 3], "int8"),
    "uint64": np.array([0, 2**64 - 1, 5], "uint64"),
    "gaps": pd.array([1, None, 2**60], "Int64"),
    "float": [0.1, 1e-5, np.inf],
    "whole": [1.0, 2.0, 3.0],
    "whole_gaps": [1.0, np.nan, 3.0],
    "single": np.array([0.1, np.nan, 2.5], "float32"),
    "bool": [True, False, True],
    "bool_gaps": pd.array([True, None, False], "boolean"),
    "text": ["NA", "", 'x, "y"\nz'],
    "digits": ["007", None, "12345678901234567890"],
    "category": pd.Categorical(["u", None, "v"]),
    "day": times("2024-01-31", None, "1969-12-31"),
    "time": times("2024-01-31 13:45:00", "2024-02-29", None),
    "milli": times("2024-01-31 13:45:00.5", "2024-02-29", "1969-12-31 23:59:59"),
    "zone": times("2024-01-31 13:45:00", "2024-06-29", "2000-01-01").tz_localize("+01:00"),
    "length": pd.to_timedelta(["1 days 02:03:04", "-1 s", None]),
    "date": [dt.date(2024, 1, 31), None, dt.date(9999, 12, 31)],
    "clock": [dt.time(1, 2, 3), None, dt.time(23, 59, 59, 5)],
    "decimal": [decimal.Decimal("1.50"), None, decimal.Decimal("-0.05")],
})
frame.to_parquet("types.parquet", index=False)
frame.to_feather("types.feather", compression="lz4")
table = pa.Table.from_pandas(frame, preserve_index=False)
options = pa.ipc.IpcWriteOptions(compression="zstd")
with pa.OSFile("types.arrows", "wb") as file, pa.ipc.new_stream(file, table.schema, options=options) as writer:
    writer.write_table(table, max_chunksize=2)
frame[["int8"]].set_index(np.array([7, 5, 6])).to_parquet("index.parquet")
far = np.array(["9999-12-31T03:00:00", "2024-01-31T13:45:00"], "datetime64[us]")
pd.DataFrame({"time": far}).to_parquet("spark.parquet", index=False, use_deprecated_int96_timestamps=True)
large = pd.DataFrame({"id": [1, 2], "text": ["x", "y" * (600 << 20)]})
large.to_parquet("large.parquet", index=False, compression="zstd")
large.to_feather("large.feather", compression="zstd")
texts = pd.DataFrame({"id": [1, 2], "miles": ["12,345", "999"], "share": ["1 234", "n/a"], "code": ["1.234", "5"]})
texts.insert(1, "part", [0.25, 1.5])
texts.to_parquet("texts.parquet", index=False)
texts.to_excel("texts.xlsx", index=False)
pd.DataFrame({"a": [1, 2], "list": [[1], [2, 3]]}).to_parquet("nested.parquet", index=False)

cells = frame[["int8", "float", "whole", "bool", "text", "digits", "day", "time", "milli", "clock"]].copy()
with pd.ExcelWriter("types.xlsx") as writer:
    cells.to_excel(writer, sheet_name="cells", index=False)
    cells[["int8", "text"]].to_excel(writer, sheet_name="index", startrow=2, startcol=1)


def book(name, rows, merged=None):
    workbook = openpyxl.Workbook()
    for row in rows:
        workbook.active.append(row)
    if merged:
        workbook.active.merge_cells(merged)
    workbook.save(name)


book("title.xlsx", [["Sales of 2024"], [], ["id", "amount"], [1, 2.5], [2, 3]])
book("merged.xlsx", [["place", "amount"], ["A", 1], [None, 2]], "A2:A3")
book("blank.xlsx", [["id", "amount"], [1, 2.5], [None, None], [2, 3], [None, " "]])
book("formula.xlsx", [["id", "double"], [1, "=A2*2"]])
book("empty.xlsx", [])
