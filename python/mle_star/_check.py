"""`mle-star check`."""

import json
import os
import warnings
from pathlib import Path
from typing import Any

from ._program import USAGE, Error, call, options


def check(source: str | os.PathLike[str], **settings: str | os.PathLike[str] | None) -> list[dict[str, Any]]:
    """Finds leaks of validation data in a script, a notebook, or a folder of both. Runs nothing.

    Args:
        source: A path, or the text of a script. A string is a path if it ends in `.py` or `.ipynb` or if it exists.
        settings: Options of `mle-star check`, such as `data`, a data folder or task file from which target, row ID and
            split are inferred, or `target`.

    Returns:
        The findings in order, as in `mle-star check --json` (docs/check.md), each with the `path` of its file. Those
        with `severity` `block` are leaks, those with `warn` are worth a look.

    Raises:
        Error: A file cannot be checked. A cell of a notebook that cannot be parsed is a warning.
    """
    is_path = not isinstance(source, str) or _is_path(source)
    arguments = ["check", "--json", *options(**settings), "--", os.fspath(source) if is_path else "-"]
    files = json.loads(call(*arguments, text="" if is_path else str(source), accepted=(0, 1, USAGE)))["files"]
    for file in files:
        if file.get("error"):
            raise Error(file["error"])
        for cell in file.get("left_out", []):
            warnings.warn(f"{file['path']}: cell {cell['cell']} is left out: {cell['error']}", stacklevel=2)
    return [{"path": file["path"], **finding} for file in files for finding in file["findings"]]


def _is_path(source: str) -> bool:
    try:
        return "\n" not in source and (source.endswith((".py", ".ipynb")) or (source != "" and Path(source).exists()))
    except (OSError, ValueError):  # too long for a path, or with a zero byte
        return False
