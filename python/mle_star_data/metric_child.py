"""The process that calls a metric file: a copy of this one, which ends whatever the file does.

It answers with one JSON object. What the file prints goes to stderr.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import selectors
import signal
import sys
import time
import traceback
import types
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from .tables import Refused

Answer = dict[str, Any]

FILE = "metric.py"
MOST_SAID = 1 << 16
"""How much of what a file prints is passed on, in bytes."""
NEITHER = "has neither score(solution, submission, row_id_column_name) nor grade(submission, answers)"


class Wrong(Exception):
    """A sentence about the file, with the line that it is about."""

    def __init__(self, text: str, line: int | None = None) -> None:
        super().__init__(text)
        self.line = line


@dataclass(frozen=True)
class Function:
    """The file's function, in the child."""

    call: Callable[[Any, Any], Any]
    line: int
    heard: Callable[[], None]
    """Says that there is one more score, so that the time for the next one begins."""

    @classmethod
    def load(cls, folder: str, id_column: str, heard: Callable[[], None]) -> Function:
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
            raise Wrong(NEITHER)
        function = getattr(module, name)
        line = function.__code__.co_firstlineno
        if name == "score":
            return cls(lambda truth, predicted: function(truth, predicted, id_column), line, heard)
        return cls(lambda truth, predicted: function(predicted, truth), line, heard)


class Child:
    """A copy of this process that runs a file."""

    def __init__(self, name: str, limit: float, folder: str, work: Callable[[Callable[[], None]], Answer]) -> None:
        self.name, self.limit, self.folder, self.work = name, limit, folder, work
        # A module that another thread imports cannot be imported in a copy of the process.
        with suppress(ImportError):
            import sklearn.metrics  # noqa: F401
        from . import kaggle_metric_utilities  # noqa: F401

        sys.stdout.flush()
        sys.stderr.flush()
        (self.answers, answers), (self.said, said) = os.pipe(), os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.process = os.fork()
        if self.process == 0:
            self._run(answers, said)
        os.close(answers)
        os.close(said)

    def _run(self, answers: int, said: int) -> NoReturn:
        """In the child."""
        try:
            os.setpgid(0, 0)
            self._leave(said)
            os.write(answers, json.dumps(self._answer(lambda: self._heard(answers))).encode() + b"\n")
            sys.stdout.flush()
        finally:
            os._exit(0)

    def _leave(self, said: int) -> None:
        """Keeps the file away from what this process reads and writes."""
        from . import kaggle_metric_utilities

        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(one, signal.SIG_DFL)
        self._wait()
        os.chdir(self.folder)
        sys.argv = [FILE]
        sys.modules["kaggle_metric_utilities"] = kaggle_metric_utilities

    def _wait(self) -> None:
        """Ends this process after a while, if nobody else does."""
        signal.alarm(int(2 * self.limit) + 5)

    def _heard(self, answers: int) -> None:
        self._wait()
        os.write(answers, b"\n")

    def _answer(self, heard: Callable[[], None]) -> Answer:
        try:
            return {"answer": self.work(heard)}
        except Wrong as error:
            return self._error(str(error), FILE, error.line)
        except BaseException as error:
            return self._error(_sentence(error), *self._line(error))

    def _error(self, text: str, file: str, line: int | None) -> Answer:
        file = self.name if os.path.basename(file) == FILE else os.path.basename(file)
        return {"error": f"{file} {text}" if line is None else f"{file}, line {line}, {text}"}

    def _line(self, error: BaseException) -> tuple[str, int | None]:
        """The last line of the file, or of a module beside it, that was executed."""
        if isinstance(error, SyntaxError) and error.filename and error.filename.startswith(self.folder):
            return error.filename, error.lineno
        frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename.startswith(self.folder)]
        return (frames[-1].filename, frames[-1].lineno) if frames else (FILE, None)

    def answer(self) -> Answer:
        """The answer of the child, which is ended."""
        try:
            answer, said = self._listen()
            status = None if answer else self._ended()
        finally:
            for kill in (os.killpg, os.kill):
                with suppress(OSError):
                    kill(self.process, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(self.process, 0)
            os.close(self.answers)
            os.close(self.said)
        if not answer:
            lines = (line.strip() for line in reversed(said.decode(errors="replace").splitlines()))
            by = "it printed no error" if not status else f"signal {status} ended it"
            raise Refused(f"{self.name} ended Python before there was a score: {next(filter(None, lines), by)}")
        found: Answer = json.loads(answer)
        if "error" in found:
            raise Refused(found["error"])
        return dict(found["answer"])

    def _ended(self) -> int | None:
        """The signal that has ended the child, if one has."""
        for _ in range(100):
            # Its group cannot be ended once nothing is left of it, so it is waited for at the end alone.
            found = os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is not None:
                return None if found.si_code == os.CLD_EXITED else found.si_status
            time.sleep(0.01)
        return None

    def _listen(self) -> tuple[bytes, bytes]:
        """The answer, none if the child ends without one, and the end of what it printed."""
        limit, answer, said, passed = self.limit, b"", b"", 0
        deadline = time.monotonic() + limit
        with selectors.DefaultSelector() as streams:
            streams.register(self.answers, selectors.EVENT_READ)
            streams.register(self.said, selectors.EVENT_READ)
            while self.answers in streams.get_map():
                ready = [key.fd for key, _ in streams.select(max(deadline - time.monotonic(), 0.0))]
                if time.monotonic() > deadline and self.answers not in ready:
                    raise Refused(f"{self.name} takes longer than {limit:g} s for a score")
                # What it printed before its end is read before that.
                for stream in sorted(ready, key=lambda one: one == self.answers):
                    data = os.read(stream, 1 << 16)
                    if stream == self.said:
                        os.write(2, data[: MOST_SAID - passed])
                        said, passed = (said + data)[-4096:], min(passed + len(data), MOST_SAID)
                    else:
                        answer = (answer + data).lstrip()
                        # A score of resampled rows may take longer, since there is one.
                        deadline = time.monotonic() + 2 * limit
                    if not data or answer.endswith(b"\n"):
                        streams.unregister(stream)
        with suppress(BlockingIOError):
            os.set_blocking(self.said, False)
            data = os.read(self.said, 1 << 20)
            os.write(2, data[: MOST_SAID - passed])
            said = (said + data)[-4096:]
        return answer if answer.endswith(b"\n") else b"", said


def _sentence(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"imports {error.name}, which the Python interpreter lacks"
    text = " ".join(str(error).split())
    return f"raised {type(error).__name__}" + (f": {text}" if text else "")
