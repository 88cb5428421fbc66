"""Starting runs."""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self, Unpack

from . import _frames
from ._frames import Table
from ._program import Error, call, words
from ._run import Run, seconds
from ._settings import ONLY_OPTIONS, Settings

#: What users of other libraries write, and its name here.
_OTHER_WORDS = {
    "label": "target", "y": "target", "x_test": "test", "test_data": "test",
    "eval_metric": "metric", "scoring": "metric", "time_budget": "time_limit", "timeout": "time_limit",
    "holdout_frac": "holdout", "random_state": "seed", "random_seed": "seed",
    "n_jobs": "jobs", "path": "folder", "runs_dir": "folder", "verbose": "quiet", "verbosity": "quiet",
}  # fmt: skip

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
    """Solves a task, and waits for it.

    A line shows the progress in a terminal and in a notebook. Ctrl-C stops the run; `Run.resume` continues it.

    Args:
        data: A data folder, a task file, a table file, or a frame. Without a test table, a fifth of the rows of a table
            is predicted and scored.
        target: The target column, or several: a list, or a text with commas.
        test: The rows to predict, beside a table or a frame; without the target.
        metric: The metric, such as `"RMSE"` or `"log loss"`. Without it, the one that the description names, else RMSE
            for numbers, ROC-AUC for two classes, and log loss for more.
        direction: `"maximize"` or `"minimize"`, for a metric that the program does not know.
        time_limit: Seconds, or a text such as `"10m"`; a day by default.
        agents: Who writes the solutions. `"offline"`: built-in rules, no key, no cost. `"auto"`: `claude` if the
            command and a login are found and `max_budget_usd` is set, else `offline`.
        folder: The folder of runs; by default that of `MLE_STAR_RUNS_DIR`, else `runs`.
        quiet: Whether to show no progress.
        settings: Keys of the configuration and options of `mle-star run`, such as `group_column="city"`, `seed=1` or
            `max_budget_usd=5`: docs/configuration.md, or `mle_star.Settings`.

    Returns:
        The finished run.

    Raises:
        Error: The input is refused, or the run ends without a valid submission.
    """
    begun = start(
        data, target=target, test=test, metric=metric, direction=direction,
        time_limit=time_limit, agents=agents, folder=folder, **settings,
    )  # fmt: skip
    with begun._stopping():
        return begun.wait(quiet=quiet)


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
    check_names(settings, run.__kwdefaults__ or ())
    runs, columns = Path(folder or os.environ.get("MLE_STAR_RUNS_DIR") or "runs"), _columns(target)
    limit = seconds(time_limit)
    given = words(target=columns, metric=metric, direction=direction, time_limit=limit, agents=agents, runs_dir=runs)
    for name, value in settings.items():
        given += _setting(name, value)
    with _Task(data, test, runs, name=columns) as task:
        arguments = ["run", "--detach", "--json", *given, "--", os.fspath(task.path)]

        def interrupted(interrupt: KeyboardInterrupt, printed: str) -> None:
            task.kept(_begun(printed))._stopped_by(interrupt)

        return task.kept(_begun(call(*arguments, interrupted=interrupted)))


def _begun(printed: str) -> Run:
    """The run that the program has started."""
    return Run(json.loads(printed)["folder"])


def check_names(names: Iterable[str], parameters: Iterable[str]) -> None:
    """Checks that these are settings.

    Raises:
        Error: One is none. The hint names what is meant: one of these other parameters, or a setting.
    """
    known = [*parameters, *Settings.__annotations__]
    for name in names:
        if name.partition(".")[0] not in Settings.__annotations__:
            begun = [one for one in known if one.startswith(f"{name.lower()}_")]
            close = difflib.get_close_matches(name.lower(), known, 1)
            word = _OTHER_WORDS.get(name.lower()) or " or ".join(begun or close)
            hint = f"did you mean {word}?" if word else "docs/python.md and docs/configuration.md list all of them"
            if {name, word} & {"target", "test"} and "target" not in known:
                hint = "give the target to `fit`, and test rows to `predict`"
            raise Error(f"there is no parameter {name!r}", hint)


def _columns(target: Any) -> str | None:
    """The names of the target columns; a name that is no text stands for its text."""
    if isinstance(target, (list, tuple)):
        return ",".join(map(str, target))
    return None if target is None else str(target)


def _setting(name: str, value: Any) -> list[str]:
    if value is None:
        return []
    if name in ONLY_OPTIONS:
        values = value if isinstance(value, (list, tuple)) else [value]
        return [word for one in values for word in words(**{name: one})]
    if isinstance(value, bool):
        value = "on" if value else "off"
    elif isinstance(value, os.PathLike):
        value = os.fspath(value)
    try:
        return [f"--set={name}={value if isinstance(value, str) else json.dumps(value, default=_plain)}"]
    except (OverflowError, TypeError, ValueError) as error:
        raise Error(
            f"the setting {name!r} cannot be passed on: {error}", "give a number, a text, or a list of them"
        ) from error


def _plain(value: Any) -> Any:
    """A number or an array of numpy, or a path in a list, for JSON."""
    return value.tolist() if hasattr(value, "tolist") else os.fspath(value)


class _Task:
    """What the program is given: a path as it is, or a folder with frames as files, beside the runs.

    The folder stays as long as its run may be resumed; it goes if the run does not begin.
    """

    def __init__(self, data: Table, test: Table | None, runs: Path, name: str | None) -> None:
        self._folder: Path | None = None
        given = _frames.path_of(data)
        if given is not None and test is None:
            self.path = given
            return
        if given is not None and given.is_dir():
            raise Error(
                f"{given} is a folder, and a test table is given beside it", "put the test table into the folder"
            )
        frames = runs / ".frames"
        try:
            frames.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(dir=frames))
        except OSError as error:
            raise Error(f"the folder of runs cannot be written: {error}", "set another one with `folder`") from error
        try:
            self.path = self._folder / (re.sub(r"\W+", "-", name or "").strip("-")[:_LONGEST_NAME] or "frame")
            self.path.mkdir()
            self._put(data, "train")
            if test is not None:
                self._put(test, "test")
        except BaseException:
            self._remove()
            raise

    def _put(self, table: Table, role: str) -> None:
        given = _frames.path_of(table)
        if given is None:
            _frames.write(table, self.path / role)
        elif given.is_file():
            endings = given.suffixes[-2:] if given.suffix.lower() in _PACKED else given.suffixes[-1:]
            (self.path / "".join([role, *endings])).symlink_to(given.resolve())
        else:
            what = f"{given} is a folder, not a table" if given.is_dir() else f"no such file: {given}"
            raise Error(what, "give the path of a table, or a frame")

    def __enter__(self) -> Self:
        return self

    def kept(self, run: Run) -> Run:
        """Leaves the folder to the run."""
        self._folder = None
        return run

    def _remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            # Only if no other run has frames.
            with contextlib.suppress(OSError):
                self._folder.parent.rmdir()

    def __exit__(self, *_: object) -> None:
        self._remove()
