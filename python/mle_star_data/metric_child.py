"""The process that calls a metric file: a copy of this one, which ends whatever the file does.

What the file prints goes to stderr.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import traceback
import types
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import IO, Any

from .aliases import Answer
from .tables import Refused

FILE = "metric.py"
MOST_SAID = 1 << 16
"""How much of what a file prints is passed on, in bytes."""
MOST_WRITTEN = 1 << 28
"""How large a file may become that it writes, in bytes; what it prints is one."""
NEITHER = "has neither score(solution, submission, row_id_column_name) nor grade(submission, answers)"


class FileError(Exception):
    """A sentence about the file, with the line that it is about."""

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True)
class MetricFunction:
    """The file's function, in the child."""

    call: Callable[[Any, Any], Any]
    line: int
    on_score: Callable[[], None]
    """Says that there is one more score, so that the time for the next one begins."""

    @classmethod
    def load(cls, folder: str, id_column: str, on_score: Callable[[], None]) -> MetricFunction:
        package = types.ModuleType("metric_package")
        package.__path__ = [folder]
        sys.modules[package.__name__] = package
        spec = importlib.util.spec_from_file_location("metric_package.metric", os.path.join(folder, FILE))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        # Modules beside the file may be imported as they are where the user runs it.
        sys.path.append(folder)
        spec.loader.exec_module(module)
        name = next((name for name in ("score", "grade") if inspect.isfunction(getattr(module, name, None))), None)
        if name is None:
            raise FileError(NEITHER)
        function = getattr(module, name)
        line = function.__code__.co_firstlineno
        if name == "score":
            return cls(lambda truth, predicted: function(truth, predicted, id_column), line, on_score)
        return cls(lambda truth, predicted: function(predicted, truth), line, on_score)


def answer(name: str, limit: float, folder: str, work: Callable[[Callable[[], None]], Answer]) -> Answer:
    """What a copy of this process answers that runs a file, each score in its time. It is ended then."""
    # A module that another thread imports cannot be imported in a copy of the process.
    with suppress(ImportError):
        import sklearn.metrics  # noqa: F401
    from . import kaggle_metric_utilities  # noqa: F401

    forks = multiprocessing.get_context("fork")
    here, there = forks.Pipe(duplex=False)
    with here, tempfile.TemporaryFile() as said, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process = forks.Process(target=_run, args=(name, limit, folder, work, there, said.fileno()))
        process.start()
        there.close()
        try:
            found = _listen(name, limit, here)
            if found is None:
                process.join(1.0)
        finally:
            code = process.exitcode
            # What it has started is in its group.
            with suppress(OSError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.kill()
            process.join()
            printed = _passed_on(said)
    if found is None:
        by = "it printed no error" if code is None or code >= 0 else f"signal {-code} ended it"
        raise Refused(f"{name} ended Python before there was a score: {printed or by}")
    if "error" in found:
        raise Refused(found["error"])
    return dict(found["answer"])


def _listen(name: str, limit: float, answers: Connection) -> Answer | None:
    """The answer; none if the child ends without one. A score of resampled rows may take longer, since there is one."""
    most = limit
    while answers.poll(most):
        try:
            found: Answer | None = json.loads(answers.recv_bytes())
        except EOFError:
            return None
        if found is not None:
            return found
        most = 2 * limit
    raise Refused(f"{name} takes longer than {limit:g} s for a score")


def _passed_on(said: IO[bytes]) -> str:
    """The last line of what a child printed, of which the beginning goes to stderr."""
    said.seek(0)
    os.write(2, said.read(MOST_SAID))
    said.seek(max(said.seek(0, os.SEEK_END) - 4096, 0))
    lines = [line.strip() for line in said.read(4096).decode(errors="replace").splitlines()]
    return next(filter(None, reversed(lines)), "")


def _run(
    name: str, limit: float, folder: str, work: Callable[[Callable[[], None]], Answer], answers: Connection, said: int
) -> None:
    """In the child, whose input and output are kept away from those of this process."""
    from . import kaggle_metric_utilities

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_WRITTEN, MOST_WRITTEN))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(one, signal.SIG_DFL)
    os.chdir(folder)
    sys.argv = [FILE]
    sys.modules["kaggle_metric_utilities"] = kaggle_metric_utilities

    def on_score() -> None:
        # Ends this process after a while, if nobody else does.
        signal.alarm(int(2 * limit) + 5)
        answers.send_bytes(b"null")

    signal.alarm(int(2 * limit) + 5)
    try:
        found: Answer = {"answer": work(on_score)}
    except BaseException as error:
        found = {"error": _sentence(error, name, folder)}
    answers.send_bytes(json.dumps(found).encode())
    os._exit(0)


def _sentence(error: BaseException, name: str, folder: str) -> str:
    """What is wrong, with the last line of the file, or of a module beside it, that was executed."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(folder)]
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else (FILE, None)
    text = " ".join(str(error).split())
    if isinstance(error, FileError):
        file, line = FILE, error.line
    elif isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        file, line = error.filename, error.lineno
    if isinstance(error, ModuleNotFoundError) and error.name:
        text = f"imports {error.name}, which the Python interpreter lacks"
    elif not isinstance(error, FileError):
        text = f"raised {type(error).__name__}" + (f": {text}" if text else "")
    file = name if os.path.basename(file) == FILE else os.path.basename(file)
    return f"{file} {text}" if line is None else f"{file}, line {line}, {text}"
