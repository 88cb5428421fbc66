"""Starting runs."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Unpack

from . import _frames
from ._frames import Table
from ._program import USAGE, Error, call, options
from ._run import Run, follow_run, seconds
from ._settings import ONLY_OPTIONS, Settings

#: Endings of packed tables, after that of the table.
_PACKED = {".gz", ".zip", ".zst", ".zstd"}

#: The longest name of a folder that says what is predicted, in letters.
_LONGEST_NAME = 60


def run(
    data: Table,
    *,
    target: str | list[str] | None = None,
    test: Table | None = None,
    metric: str | None = None,
    direction: str | None = None,
    time_limit: float | str | None = None,
    agents: str = "auto",
    folder: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    **settings: Unpack[Settings],
) -> Run:
    """Solves a task, and waits for it (docs/python.md).

    A line shows the progress in a terminal and in a notebook. Ctrl-C stops the run; `Run.resume` continues it.

    Args:
        data: A data folder, a task file, a table file, or a frame.
        target: The target column, or several.
        test: The rows to predict, beside a table or a frame; without it, a fifth of the rows.
        metric: The metric, such as `"RMSE"` or `"log loss"`.
        direction: `"maximize"` or `"minimize"`, for a metric that the program does not know.
        time_limit: Seconds, or a text such as `"10m"`; a day by default.
        agents: Who writes the solutions: `"offline"` costs nothing.
        folder: The folder of runs; by default that of `MLE_STAR_RUNS_DIR`, else `runs`.
        quiet: Whether to show no progress.
        settings: Keys of the configuration and options of `mle-star run`, such as `seed=1`.

    Raises:
        Error: The input is refused, or the run ends without a valid submission.
    """
    runs, given = _options(folder, target, time_limit, settings, metric=metric, direction=direction, agents=agents)
    with _task(data, test, runs, target) as task:
        return follow_run("run", *given, "--", task, runs=runs, quiet=quiet)


def start(
    data: Table,
    *,
    target: str | list[str] | None = None,
    test: Table | None = None,
    metric: str | None = None,
    direction: str | None = None,
    time_limit: float | str | None = None,
    agents: str = "auto",
    folder: str | os.PathLike[str] | None = None,
    quiet: bool = True,
    **settings: Unpack[Settings],
) -> Run:
    """Starts a run as `run` does, and returns as soon as it has read the data.

    The run goes on when Python ends. `Run.wait` waits for it, `Run.stop` stops it.

    Raises:
        Error: The input is refused.
    """
    runs, given = _options(folder, target, time_limit, settings, metric=metric, direction=direction, agents=agents)
    with _task(data, test, runs, target) as task:
        return Run(json.loads(call("run", "--detach", "--json", *given, "--", task))["folder"])


def _options(
    folder: str | os.PathLike[str] | None,
    target: Any,
    time_limit: float | str | None,
    settings: Settings,
    **values: object,
) -> tuple[Path, list[str]]:
    """The folder of runs, and the options of `mle-star run`. Names of columns that are no texts become such."""
    runs = Path(folder or os.environ.get("MLE_STAR_RUNS_DIR") or "runs")
    columns = ",".join(map(str, target)) if isinstance(target, (list, tuple)) else target
    given = options(runs_dir=runs, target=columns, time_limit=seconds(time_limit), **values)
    return runs, given + [word for name, value in settings.items() for word in _setting(name, value)]


def _setting(name: str, value: Any) -> list[str]:
    if value is None:
        return []
    if name in ONLY_OPTIONS:
        values = value if isinstance(value, (list, tuple)) else [value]
        return [word for one in values for word in options(**{name: one})]
    is_text = isinstance(value, (str, os.PathLike))
    return [f"--set={name}={value if is_text else json.dumps(value, default=_plain)}"]


def _plain(value: Any) -> Any:
    """A number or an array of numpy, or a path in a list, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else os.fspath(value)


@contextlib.contextmanager
def _task(data: Table, test: Table | None, runs: Path, target: object) -> Iterator[str]:
    """The path that the program is given: that of the data, or of a folder beside the runs with frames as files.

    The folder stays, since the run may be resumed; it goes if the input is refused.
    """
    given = _frames.path_of(data)
    if given is not None and test is None:
        yield os.fspath(given)
        return
    try:
        (runs / ".frames").mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(dir=runs / ".frames"))
    except OSError as error:
        raise Error(f"the folder of runs cannot be written: {error}", "set another one with `folder`") from error
    try:
        task = folder / _name(target)
        task.mkdir()
        _put(data, task / "train")
        if test is not None:
            _put(test, task / "test")
        yield os.fspath(task)
    except Error as error:
        if error.exit_code == USAGE:
            shutil.rmtree(folder, ignore_errors=True)
            # Only if no other run has frames.
            with contextlib.suppress(OSError):
                folder.parent.rmdir()
        raise


def _name(target: object) -> str:
    """A short name of a folder, after which the run is called."""
    return re.sub(r"\W+", "-", "frame" if target is None else str(target)).strip("-")[:_LONGEST_NAME] or "frame"


def _put(table: Table, stem: Path) -> None:
    """Puts a table beside `stem`: a frame as a file, a file as a link."""
    given = _frames.path_of(table)
    if given is None:
        _frames.write(table, stem)
        return
    if not given.is_file():
        raise Error(f"{given} is no file, which it must be beside a test table", "give the path of a table, or a frame")
    endings = given.suffixes[-2:] if given.suffix.lower() in _PACKED else given.suffixes[-1:]
    stem.with_name("".join([stem.name, *endings])).symlink_to(given.resolve())
