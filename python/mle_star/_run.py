"""A run: followed, stopped, resumed and read."""

from __future__ import annotations

import contextlib
import html
import itertools
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _frames
from ._frames import Table
from ._program import Error, call, follow, options
from ._progress import Progress

if TYPE_CHECKING:
    import pandas as pd

#: Exit code of a run with a solution and without a valid submission, which is no error of the program.
NO_SUBMISSION = 3


class Run:
    """A run: its folder, and what it holds. `Run.open` opens one from its folder.

    Values are read from the folder whenever they are asked for, so they are those of this moment. A finished run keeps
    its values; it can be copied, pickled and moved.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).absolute()

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Run:
        """A run, from its folder, or from its ID if it is in `runs`.

        Raises:
            Error: There is no such run.
        """
        return cls(json.loads(call("show", "--json", "--", os.fspath(path)))["folder"])

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._path

    # ---- its process

    @property
    def status(self) -> str:
        """`"running"`, `"finished"`, or `"unfinished"`: interrupted or failed, `resume` continues it."""
        return str(self._shown()["run"]["state"])

    def wait(self, *, quiet: bool = False) -> Run:
        """Waits for the end of the run, and shows its progress. Ctrl-C stops waiting; the run goes on.

        Raises:
            Error: It ends, or has ended, without a valid submission.
        """
        return self._follow("watch", "--since=0", quiet=quiet)

    def stop(self) -> Run:
        """Stops the run, and waits until it has: `resume` continues it. A run that has ended stays as it is.

        Raises:
            Error: Its process is on another machine or belongs to another user.
        """
        try:
            call("stop", "--", os.fspath(self._path))
        except Error:
            if self.status == "running":
                raise
        return self

    def resume(
        self, time_limit: float | str | None = None, max_budget_usd: float | None = None, *, quiet: bool = False
    ) -> Run:
        """Continues an interrupted or failed run, or one that used its limit, and waits for it as `run` does.

        Args:
            time_limit: A larger limit, for all of the run: seconds, or a text such as `"2h"`.
            max_budget_usd: A larger limit on the cost, for all of the run.
            quiet: Whether to show no progress.

        Raises:
            Error: The run cannot be resumed, or ends without a valid submission.
        """
        limits = options(time_limit=seconds(time_limit), max_budget_usd=max_budget_usd)
        return self._follow("resume", *limits, quiet=quiet)

    def _follow(self, command: str, *given: str, quiet: bool) -> Run:
        follow_run(
            command, *given, "--", os.fspath(self._path), runs=self._path.parent, name=self._path.name, quiet=quiet
        )
        return self

    def _shown(self) -> dict[str, Any]:
        """What `mle-star show` says."""
        return json.loads(call("show", "--json", "--", os.fspath(self._path)))  # type: ignore[no-any-return]

    def events(self) -> Iterator[dict[str, Any]]:
        """The events so far (docs/events.md), once each: a resume tells the earlier ones again, which replaces them."""
        file = self._path / "logs/events.jsonl"
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n") if file.exists() else []
        begins = [number for number, line in enumerate(lines) if '"event":"run_started"' in line]
        for line in lines[begins[-1] if begins else 0 :]:
            try:
                yield json.loads(line)
            except json.JSONDecodeError:  # the last line of a process that was killed, or one that is being written
                continue

    # ---- its result

    @property
    def result(self) -> dict[str, Any]:
        """`result.json` (docs/result.md).

        Raises:
            Error: The run is not finished.
        """
        try:
            result = json.loads((self._path / "result.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise self._lacks("result") from None
        return result  # type: ignore[no-any-return]

    @property
    def expected(self) -> dict[str, Any] | None:
        """What to expect on new rows: `score`, its 95 % `interval`, the rows that they are `from` (`"holdout"`,
        `"validation"` or `"both"`), and what a `constant` prediction scores. `None` without a result, or if not known.
        """
        return self.result.get("expected") if self._has_result() else None

    @property
    def score(self) -> float | None:
        """The validated score of the solution; the best one so far, while the run has no result."""
        trust = self._trust()
        return trust["validation_score"] if trust else self._shown()["run"]["best_score"]  # type: ignore[no-any-return]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `score`; `None` as long as the run has no result, or if it is not known."""
        return _interval(self._trust().get("validation_interval"))

    @property
    def held_out(self) -> float | None:
        """The score on rows that no script saw. `None` without a result, or if there are none."""
        return self._trust().get("holdout_score")

    @property
    def held_out_interval(self) -> tuple[float, float] | None:
        """The 95 % interval of `held_out`."""
        return _interval(self._trust().get("holdout_interval"))

    def _trust(self) -> dict[str, Any]:
        """The part of the result about its scores; empty as long as there is none."""
        return self.result["trust"] or {} if self._has_result() else {}

    def _has_result(self) -> bool:
        return (self._path / "result.json").exists()

    @property
    def submission(self) -> pd.DataFrame:
        """The predictions for the test rows: their IDs, and a column for each target or class.

        Raises:
            Error: There are none yet.
        """
        return _frames.read(self._file("final/submission.csv"))

    @property
    def solution(self) -> str:
        """The script that made the submission.

        Raises:
            Error: There is none yet.
        """
        return self._file("final/solution.py").read_text(encoding="utf-8")

    def leaderboard(self) -> pd.DataFrame:
        """The scored solutions, the best first.

        Columns: `place` in the algorithm (docs/events.md); `model`, those that the solution goes back to; `score`;
        `low` and `high`, its 95 % interval, if it is known; `seconds` of its script; `kept`, whether the algorithm
        continued with it.
        """
        columns = ["place", "model", "score", "low", "high", "seconds", "kept"]
        frame: pd.DataFrame = _frames.pandas().DataFrame(self._shown()["leaderboard"], columns=columns)
        return frame.astype({"low": float, "high": float})

    def predict(self, frame: Table) -> pd.DataFrame:
        """Predicts other rows, in their order: the columns of the submission, with the index of the frame.

        Columns that the model does not know are left out.

        Raises:
            Error: A column is missing, or the run has no solution that can predict.
        """
        with tempfile.TemporaryDirectory() as folder:
            given, out = _frames.path_of(frame), Path(folder) / "predicted.csv"
            rows = _frames.write(frame, Path(folder) / "rows") if given is None else given
            call("predict", f"--output={out}", "--", os.fspath(self._path), os.fspath(rows))
            predicted = _frames.read(out)
        if _frames.is_pandas(frame):
            predicted.index = frame.index
        return predicted

    def importance(self) -> pd.DataFrame:
        """How much worse the score gets if a column is shuffled, strongest first.

        Columns: `column`, `difference` in the unit of the metric, `low` and `high`, its 95 % interval.

        Raises:
            Error: The run has not computed it.
        """
        result = self.result
        found = result.get("importance")
        if found is None:
            why = result.get("importance_why") or "this version of mle-star does not compute it"
            raise Error(f"the importance of columns is not known: {why}", "docs/result.md says when it is", 1)
        rows = [(one["column"], one["difference"], *(one["interval"] or (None, None))) for one in found]
        frame: pd.DataFrame = _frames.pandas().DataFrame(rows, columns=["column", "difference", "low", "high"])
        return frame

    def report(self, path: str | os.PathLike[str], *, full: bool = False) -> Path:
        """Writes the report, one page that needs no other file, and returns its path.

        Args:
            full: Whether it has every script and every change.
        """
        call("report", *(["--full"] if full else []), "--", os.fspath(self._path))
        with contextlib.suppress(shutil.SameFileError):
            shutil.copyfile(self._path / "report.html", path)
        return Path(path)

    def _file(self, name: str) -> Path:
        file = self._path / name
        if not file.exists():
            raise self._lacks(name)
        return file

    def _lacks(self, what: str) -> Error:
        return Error(
            f"the run {self._path.name} is {self.status} and has no {what}", "wait for its end, or resume it", 1
        )

    # ---- shown

    def __repr__(self) -> str:
        return f"<mle_star.Run {self._path.name}: {self._summary()}>"

    def _repr_html_(self) -> str:
        rows = [("state", self._summary()), ("folder", self._path)]
        rows += [("note", remark) for remark in self._shown()["remarks"]]
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
        said = [event["text"] for event in self.events() if event["event"] == "said"]
        # The program says how it read the data before it names the run.
        read = itertools.takewhile(lambda text: not text.startswith("run: "), said)
        lines = "".join(f"<li>{html.escape(text.strip())}</li>" for text in read)
        picture = ""
        with contextlib.suppress(Error):  # nothing was scored yet
            picture = call("show", "--svg", "--", os.fspath(self._path))
        read_as = f"<details><summary>how the data was read</summary><ul>{lines}</ul></details>"
        return f"<table>{cells}</table>{picture}{read_as}"

    def _summary(self) -> str:
        """The state, and the scores with their intervals."""
        try:
            run = self._shown()["run"]
        except Error as error:
            return error.message
        expected = self.expected or {}
        scores = [
            ("expected", expected.get("score"), expected.get("interval")),
            ("validated", self.score, self.interval),
            ("held out", self.held_out, self.held_out_interval),
        ]
        words = [f"{score:.4g} {name}{_in_brackets(interval)}" for name, score, interval in scores if score is not None]
        return f"{run['state']}, {run['metric']}: {', '.join(words) or 'no score yet'}"


def follow_run(command: str, *arguments: str, runs: Path, name: str = "", quiet: bool) -> Run:
    """Follows a command that works on a run, or watches one, until it ends, and shows the progress of the run.

    Args:
        runs: The folder of runs.
        name: The run ID, if it is known before the first event.

    Raises:
        Error: The command refuses, or the run ends without a valid submission.
    """
    progress = Progress(name, quiet=quiet)
    try:
        with progress:
            error = follow(command, "--json", *arguments, see=progress.update)
    except KeyboardInterrupt as interrupt:
        if progress.name and command != "watch":
            path = (runs / progress.name).absolute()
            interrupt.add_note(f"The run has stopped. Continue it with mle_star.Run.open({str(path)!r}).resume()")
        raise
    run = Run(runs / progress.name)
    if error is None:
        return run
    if error.exit_code == NO_SUBMISSION:
        hint = "its report says why; `resume` with a larger `time_limit` goes on if the limit cut it short"
        error = Error("the run has a solution, but no valid submission", hint, NO_SUBMISSION)
    if progress.name:
        error.add_note(f"The run is {run.path}")
    raise error


def seconds(limit: float | str | None) -> float | str | None:
    """A time limit as the program takes it: whole seconds, or a text."""
    return f"{limit:.0f}" if isinstance(limit, float) else limit


def _in_brackets(interval: Sequence[float] | None) -> str:
    return "" if interval is None else " [{:.4g}, {:.4g}]".format(*interval)


def _interval(pair: list[float] | None) -> tuple[float, float] | None:
    return None if pair is None else (pair[0], pair[1])
