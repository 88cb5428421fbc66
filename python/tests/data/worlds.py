"""Folders of plain tables that tests make of rows, and what is asked of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mle_star_data.facts import open_folder

Cells = Callable[[int], str]


def write(folder: Path, header: str, train: Iterable[str], test: Iterable[str], label: Cells | None = None) -> Path:
    """Tables with an ID, these cells and a label, of which the first rows are training rows."""
    folder.mkdir(parents=True, exist_ok=True)
    train, test, label = list(train), list(test), label or (lambda row: f"{row % 97}.5")
    rows = "".join(f"r{row},{cells},{label(row)}\n" for row, cells in enumerate(train))
    (folder / "train.csv").write_text(f"id,{header},y\n{rows}")
    rows = "".join(f"r{row},{cells}\n" for row, cells in enumerate(test, len(train)))
    (folder / "test.csv").write_text(f"id,{header}\n{rows}")
    rows = "".join(f"r{row},{label(0)}\n" for row in range(len(train), len(train) + len(test)))
    (folder / "sample_submission.csv").write_text(f"id,y\n{rows}")
    return folder


def question(folder: Path, metric: str = "RMSE", **given: Any) -> dict[str, Any]:
    """A question about a folder. Roles are given by their name, what else is given is configuration."""
    found = open_folder(folder)
    known = {"id": given.pop("id", "id"), "targets": [given.pop("target", "y")], "folds": given.pop("folds", None)}
    roles = {name: given.pop(name) for name in ("group", "time", "weight") if name in given}
    tables = {
        name: {"file": f"{file}.csv", "rows": table.rows, "columns": list(table.facts.values())}
        for name, file, table in (
            ("train", "train", found.train),
            ("test", "test", found.test),
            ("sample", "sample_submission", found.sample),
        )
        if table is not None
    }
    config = {"holdout": 0.2, "holdout_rows": 20_000, "seed": 1, "preset": "default"} | given
    facts = tables | known | {"groups": found.groups, "roles": roles, "metric": metric}
    return {"folder": str(folder), "facts": facts, "config": config}
