"""The program `mle-star`: where it is, how it is called, and what its errors say."""

import json
import os
import queue
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

PROGRAM = "mle-star"
#: The environment variable that names another program.
OVERRIDE = "MLE_STAR_BIN"
#: Exit code of wrong usage, a wrong task or a wrong configuration.
USAGE = 2


class Error(Exception):
    """What the program, or this package, refuses or cannot do.

    Attributes:
        message: One sentence that says what is wrong.
        hint: What to do, or `None`.
        exit_code: That of the program (docs/runs.md); 2 if the package refuses its input.
    """

    def __init__(self, message: str, hint: str | None = None, exit_code: int = USAGE) -> None:
        super().__init__(message, hint, exit_code)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


Error.__module__ = "mle_star"


def find() -> str:
    """The program: `MLE_STAR_BIN`, else that of this Python environment, else the first on PATH.

    Raises:
        Error: There is none.
    """
    if override := os.environ.get(OVERRIDE):
        if shutil.which(override) is None:
            raise Error(f"{OVERRIDE} is {override!r}, which is no program", f"set {OVERRIDE} to the file {PROGRAM}")
        return override
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    installed = (shutil.which(PROGRAM, path=sysconfig.get_path("scripts", scheme)) for scheme in schemes)
    found = next(filter(None, installed), None) or shutil.which(PROGRAM)
    if found is None:
        raise Error(
            f"the program {PROGRAM} is not installed", f"install it with `pip install {PROGRAM}`, or set {OVERRIDE}"
        )
    return found


def call(
    *arguments: str,
    text: str = "",
    fine: Sequence[int] = (0,),
    interrupted: Callable[[KeyboardInterrupt, str], None] | None = None,
) -> str:
    """What the program prints with these arguments and `text` as standard input.

    Ctrl-C ends it as in a terminal: it is asked to stop, and waited for. `interrupted` is told what it printed.

    Raises:
        Error: It ends with another exit code than those of `fine`, or with a failure and prints nothing.
    """
    process = _started(*arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        stdout, stderr = process.communicate(text)
    except KeyboardInterrupt as interrupt:
        process.send_signal(signal.SIGINT)
        printed, _ = process.communicate()
        if interrupted is not None and printed:
            interrupted(interrupt, printed)
        raise
    if process.returncode not in fine or (process.returncode != 0 and not stdout):
        raise said(stderr, process.returncode)
    return stdout


def _started(*arguments: str, **streams: Any) -> subprocess.Popen[str]:
    """The program, in a session of its own, which keeps Ctrl-C and the interrupt of a Jupyter kernel away from it."""
    return subprocess.Popen(
        [find(), *arguments],
        stdout=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        **streams,
    )


def words(**options: object) -> list[str]:
    """Options as words of a command line; without those that are `None`."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]


def said(stderr: str, exit_code: int) -> Error:
    """The error at the end of what the program wrote: a line `error: …`, then a line `hint: …`."""
    _, marker, last = ("\n" + stderr).rpartition("\nerror: ")
    if not marker:
        words = stderr.strip() or "it said nothing"
        return Error(f"{PROGRAM} ended with exit code {exit_code}: {words}", None, exit_code)
    message, _, hint = last.partition("\nhint: ")
    return Error(message.strip(), hint.strip() or None, exit_code)


class Watch:
    """The program as it follows a run. Its events are read as they come, whether anybody asks for them or not."""

    def __init__(self, run: Path) -> None:
        # A file and not a pipe: nobody reads it before the end.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._process = _started(
            "watch", "--json", "--since=0", "--", str(run), stdin=subprocess.DEVNULL, stderr=self._errors
        )
        self._events: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        try:
            with self._process.stdout as lines:
                for line in lines:
                    self._events.put(json.loads(line))
        finally:
            self._events.put(None)

    def events(self, every: float) -> Iterator[dict[str, Any] | None]:
        """Events until the run ends, and `None` each time that `every` seconds pass without one."""
        while True:
            try:
                event = self._events.get(timeout=every)
            except queue.Empty:
                yield None
                continue
            if event is None:
                return
            yield event

    def error(self) -> Error | None:
        """The error that the run ended with; `None` for a valid submission."""
        if (exit_code := self._process.wait()) == 0:
            return None
        self._errors.seek(0)
        return said(self._errors.read(), exit_code)

    def end(self) -> None:
        """Stops watching; the run goes on."""
        self._process.terminate()
        self._process.wait()
