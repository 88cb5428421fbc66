"""Runs a metric file, a Python function given by the user, in a forked child process with limits of time and file size.

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

FILE_NAME = "metric.py"
MAX_FORWARDED_BYTES = 1 << 16
"""How much of what a file prints is passed on, in bytes."""
MAX_FILE_BYTES = 1 << 28
"""How large a file may become that it writes, in bytes; what it prints is one."""
NO_FUNCTION_MESSAGE = "has neither score(solution, submission, row_id_column_name) nor grade(submission, answers)"
Work = Callable[[Callable[[], None]], Answer]


class MetricFileError(Exception):
    """A sentence about the file, with the line that it is about."""

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True)
class MetricFunction:
    """The file's function, in the child."""

    call: Callable[[Any, Any], Any]
    line: int
    restart_timeout: Callable[[], None]
    """Says that there is one more score, so that the time for the next one begins."""

    @classmethod
    def load(cls, folder: str, id_column: str, restart_timeout: Callable[[], None]) -> MetricFunction:
        package = types.ModuleType("metric_package")
        package.__path__ = [folder]
        sys.modules[package.__name__] = package
        spec = importlib.util.spec_from_file_location("metric_package.metric", os.path.join(folder, FILE_NAME))
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        # Modules beside the file may be imported as they are where the user runs it.
        sys.path.append(folder)
        spec.loader.exec_module(module)
        name = next((name for name in ("score", "grade") if inspect.isfunction(getattr(module, name, None))), None)
        if name is None:
            raise MetricFileError(NO_FUNCTION_MESSAGE)
        function = getattr(module, name)
        line = function.__code__.co_firstlineno
        if name == "score":
            return cls(lambda truth, predicted: function(truth, predicted, id_column), line, restart_timeout)
        return cls(lambda truth, predicted: function(predicted, truth), line, restart_timeout)


def run_in_child(name: str, score_seconds: float, folder: str, work: Work) -> Answer:
    """What `work` returns in a forked child, which is killed after it or when one score takes longer than its time."""
    # A module that another thread imports cannot be imported in a copy of the process.
    with suppress(ImportError):
        import sklearn.metrics  # noqa: F401
    from . import kaggle_metric_utilities  # noqa: F401

    forks = multiprocessing.get_context("fork")
    here, there = forks.Pipe(duplex=False)
    with here, tempfile.TemporaryFile() as output, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        process = forks.Process(target=_child_main, args=(name, score_seconds, folder, work, there, output.fileno()))
        process.start()
        there.close()
        try:
            result = _receive_result(name, score_seconds, here)
            if result is None:
                process.join(1.0)
        finally:
            code = process.exitcode
            # What it has started is in its group.
            with suppress(OSError):
                os.killpg(process.pid or 0, signal.SIGKILL)
            process.kill()
            process.join()
            printed = _forward_output(output)
    if result is None:
        by = "it printed no error" if code is None or code >= 0 else f"signal {-code} ended it"
        raise Refused(f"{name} ended Python before there was a score: {printed or by}")
    if "error" in result:
        raise Refused(result["error"])
    return dict(result["answer"])


def _receive_result(name: str, score_seconds: float, results: Connection) -> Answer | None:
    """The child's result; none if it ends without one. Scores of resampled rows may take longer."""
    timeout = score_seconds
    while results.poll(timeout):
        try:
            result: Answer | None = json.loads(results.recv_bytes())
        except EOFError:
            return None
        if result is not None:
            return result
        timeout = 2 * score_seconds
    raise Refused(f"{name} takes longer than {score_seconds:g} s for a score")


def _forward_output(output: IO[bytes]) -> str:
    """The last line of what a child printed, of which the beginning goes to stderr."""
    output.seek(0)
    os.write(2, output.read(MAX_FORWARDED_BYTES))
    output.seek(max(output.seek(0, os.SEEK_END) - 4096, 0))
    lines = [line.strip() for line in output.read(4096).decode(errors="replace").splitlines()]
    return next(filter(None, reversed(lines)), "")


def _child_main(name: str, score_seconds: float, folder: str, work: Work, results: Connection, output: int) -> None:
    """In the child, whose input and output are kept away from those of this process."""
    from . import kaggle_metric_utilities

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_FILE_BYTES, MAX_FILE_BYTES))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    for item in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(item, signal.SIG_DFL)
    os.chdir(folder)
    sys.argv = [FILE_NAME]
    sys.modules["kaggle_metric_utilities"] = kaggle_metric_utilities

    def restart_timeout() -> None:
        # Ends this process after a while, if nobody else does.
        signal.alarm(int(2 * score_seconds) + 5)
        results.send_bytes(b"null")

    signal.alarm(int(2 * score_seconds) + 5)
    try:
        result: Answer = {"answer": work(restart_timeout)}
    except BaseException as error:
        result = {"error": _sentence(error, name, folder)}
    results.send_bytes(json.dumps(result).encode())
    os._exit(0)


def _sentence(error: BaseException, name: str, folder: str) -> str:
    """What is wrong, with the last line of the file, or of a module beside it, that was executed."""
    frames = [item for item in traceback.extract_tb(error.__traceback__) if item.filename.startswith(folder)]
    file, line = (frames[-1].filename, frames[-1].lineno) if frames else (FILE_NAME, None)
    text = " ".join(str(error).split())
    if isinstance(error, MetricFileError):
        file, line = FILE_NAME, error.line
    elif isinstance(error, SyntaxError) and error.filename and error.filename.startswith(folder):
        file, line = error.filename, error.lineno
    if isinstance(error, ModuleNotFoundError) and error.name:
        text = f"imports {error.name}, which the Python interpreter lacks"
    elif not isinstance(error, MetricFileError):
        text = f"raised {type(error).__name__}" + (f": {text}" if text else "")
    file = name if os.path.basename(file) == FILE_NAME else os.path.basename(file)
    return f"{file} {text}" if line is None else f"{file}, line {line}, {text}"
