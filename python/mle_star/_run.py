"""A run: followed, stopped, resumed and read."""

from __future__ import annotations

import contextlib
import html
import itertools
import json
import math
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _frames
from ._frames import Table
from ._program import Error, Watch, call, words
from ._progress import Progress, in_words

if TYPE_CHECKING:
    import pandas as pd

#: Exit code of a run with a solution and without a valid submission, which is no error of the program.
NO_SUBMISSION = 3

#: Seconds between two looks at the clock of a run without news.
TICK = 1.0


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

    def __reduce__(self) -> tuple[type[Run], tuple[Path]]:
        return Run, (self._path,)

    @property
    def path(self) -> Path:
        """Its folder."""
        return self._path

    # ---- its process

    @property
    def status(self) -> str:
        """`"running"`, `"finished"`, or `"unfinished"`: interrupted or failed, `resume` continues it."""
        return str(self._view()["state"])

    def wait(self, *, quiet: bool = False) -> Run:
        """Waits for the end of the run, and shows its progress. Ctrl-C stops waiting; the run goes on.

        Raises:
            Error: It ends, or has ended, without a valid submission.
        """
        watch = Watch(self._path)
        try:
            with Progress(self._path.name, quiet=quiet) as progress:
                for event in watch.events(TICK):
                    progress.update(event)
                progress.end(self.expected)
            error = watch.error()
        finally:
            watch.end()
        if error is None:
            return self
        if error.exit_code == NO_SUBMISSION:
            hint = "its report says why; `resume` with a larger `time_limit` goes on if the limit cut it short"
            error = Error("the run has a solution, but no valid submission", hint, NO_SUBMISSION)
        error.add_note(f"The run is {self._path}")
        raise error

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
        limits = words(time_limit=seconds(time_limit), max_budget_usd=max_budget_usd)
        with self._stopping():
            # A run that has nothing left to do ends as it did.
            call("resume", "--detach", "--json", *limits, "--", os.fspath(self._path), fine=(0, NO_SUBMISSION))
            return self.wait(quiet=quiet)

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """Ctrl-C stops the run, and ends it at once the second time."""
        try:
            yield
        except KeyboardInterrupt as interrupt:
            self._stopped_by(interrupt)
            raise

    def _stopped_by(self, interrupt: KeyboardInterrupt) -> None:
        try:
            self.stop()
        except KeyboardInterrupt:
            self.stop()
        interrupt.add_note(f"The run has stopped. Continue it with mle_star.Run.open({str(self._path)!r}).resume()")

    def _shown(self) -> dict[str, Any]:
        """What `mle-star show` says."""
        shown = json.loads(call("show", "--json", "--", os.fspath(self._path)))
        return shown  # type: ignore[no-any-return]

    def _view(self) -> dict[str, Any]:
        """The summary of the run."""
        return self._shown()["run"]  # type: ignore[no-any-return]

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
        return trust["validation_score"] if trust else self._view()["best_score"]  # type: ignore[no-any-return]

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

        Columns: `place` in the algorithm (docs/events.md); `model`, the one that the solution began with; `score`;
        `low` and `high`, its 95 % interval, known for the final solution; `seconds` of its script; `kept`, whether the
        algorithm continued with it.
        """
        events = list(self.events())
        steps = {event["place"]: event for event in events if event["event"] == "step_ended"}
        columns = ["place", "model", "score", "low", "high", "seconds", "kept"]
        rows, final = [], self._final_step(events)
        for event in events:
            place = re.sub(r"(/debug-\d+)?/run$", "", event.get("place") or "")
            is_scored = event["event"] == "script_ended" and event["failure"] is None and event["score"] is not None
            if is_scored and place in steps:
                low, high = (place == final and self.interval) or (None, None)
                model, kept = _model(place, steps), steps[place]["kept"]
                rows.append((place, model, event["score"], low, high, event["seconds"], kept))
        is_larger_better = self._view()["direction"] == "maximize"
        frame: pd.DataFrame = _frames.pandas().DataFrame(rows, columns=columns)
        frame = frame.astype({"low": float, "high": float})
        return frame.sort_values("score", ascending=not is_larger_better, kind="stable", ignore_index=True)

    def _final_step(self, events: list[dict[str, Any]]) -> str | None:
        """The step of the final solution, once the run has a result."""
        answers = [event["solution"]["step"] for event in events if event["event"] == "answer"]
        return answers[-1] if answers and self._has_result() else None

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

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes the report, one page that needs no other file, and returns its path."""
        call("report", "--", os.fspath(self._path))
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
        rows = [("state", self._summary()), ("run", self._path.name), ("folder", self._path)]
        if (self._path / "final/submission.csv").exists():
            rows.append(("submission", self._path / "final/submission.csv"))
        rows += [("note", remark) for remark in self._shown()["remarks"]]
        cells = "".join(f"<tr><th>{name}</th><td>{html.escape(str(value))}</td></tr>" for name, value in rows)
        said = [event["text"] for event in self.events() if event["event"] == "said"]
        # The program says how it read the data before it names the run.
        read = itertools.takewhile(lambda text: not text.startswith("run: "), said)
        lines = "".join(f"<li>{html.escape(text.strip())}</li>" for text in read)
        return f"<table>{cells}</table><details><summary>how the data was read</summary><ul>{lines}</ul></details>"

    def _summary(self) -> str:
        try:
            view = self._view()
        except Error as error:
            return error.message
        parts = [view["state"], *filter(None, [in_words(view["metric"], self.expected)])]
        if (score := self.score) is not None:
            parts.append(f"{view['metric']} {score:.5g}")
        if view["state"] == "finished" and self.held_out is not None:
            parts.append(f"held out {self.held_out:.5g}")
        return ", ".join(parts)


def seconds(limit: float | str | None) -> int | str | None:
    """A time limit as the program takes it: whole seconds, or a text.

    Raises:
        Error: It is neither.
    """
    try:
        return limit if limit is None or isinstance(limit, str) else math.ceil(limit)
    except (OverflowError, TypeError, ValueError) as error:
        raise Error(f"the time limit is {limit!r}", 'give seconds, or a text such as "10m"') from error


def _interval(pair: list[float] | None) -> tuple[float, float] | None:
    return None if pair is None else (pair[0], pair[1])


def _model(place: str, steps: dict[str, dict[str, Any]]) -> str:
    """The model of the candidate that a solution goes back to."""
    step = steps[place]
    earlier = next((name for name in step["from"] if name in steps and name != place), None)
    return str(step["note"]) if earlier is None else _model(earlier, steps)
