"""The program `mle-star`: where it is, how its commands are run, and what its errors say."""

import json
import os
import select
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any

PROGRAM = "mle-star"
#: The environment variable that names another program.
OVERRIDE = "MLE_STAR_BIN"
#: Exit code of wrong usage, a wrong task or a wrong configuration.
USAGE = 2

#: Seconds between two looks at the clock of a run without events.
_TICK = 1.0


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


def options(**values: object) -> list[str]:
    """Options of a command line; those that are `None` are left out."""
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value is not None]


def call(*arguments: str, text: str = "", accepted: Sequence[int] = (0,)) -> str:
    """Runs a command with `text` as its standard input, and returns what it prints.

    Raises:
        Error: It ends with an exit code that is not accepted, or with a failure and prints nothing.
    """
    process = _start(*arguments, stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        stdout, stderr = process.communicate(text.encode())
    except KeyboardInterrupt:
        _interrupt(process)
        raise
    if process.returncode not in accepted or (process.returncode != 0 and not stdout):
        raise _error(stderr, process.returncode)
    return stdout.decode(errors="replace")


def follow(*arguments: str, see: Callable[[dict[str, Any] | None], None]) -> Error | None:
    """Runs a command that prints events, and shows them to `see`, with `None` each second without one.

    Returns:
        The error that it ends with; `None` for exit code 0.
    """
    # A file and not a pipe: nobody reads it before the end.
    with tempfile.TemporaryFile() as errors:
        process = _start(*arguments, stdin=subprocess.DEVNULL, stderr=errors)
        try:
            for event in _events(process):
                see(event)
            process.wait()
        except KeyboardInterrupt:
            _interrupt(process)
            raise
        errors.seek(0)
        return None if process.returncode == 0 else _error(errors.read(), process.returncode)


def _start(*arguments: str, **streams: Any) -> subprocess.Popen[bytes]:
    """The program, in a session of its own, which keeps Ctrl-C and the interrupt of a Jupyter kernel away from it."""
    return subprocess.Popen([find(), *arguments], stdout=subprocess.PIPE, start_new_session=True, **streams)


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Asks the program to stop, as Ctrl-C does in a terminal, and waits; another Ctrl-C ends it at once."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.communicate()


def _events(process: subprocess.Popen[bytes]) -> Iterator[dict[str, Any] | None]:
    assert process.stdout is not None
    lines, begun = process.stdout.fileno(), b""
    while True:
        if not select.select([lines], [], [], _TICK)[0]:
            yield None
            continue
        if not (read := os.read(lines, 1 << 16)):
            return
        *ended, begun = (begun + read).split(b"\n")
        yield from map(json.loads, ended)


def _error(stderr: bytes, exit_code: int) -> Error:
    """The error at the end of what the program wrote: a line `error: …`, then a line `hint: …`."""
    text = stderr.decode(errors="replace")
    _, marker, last = f"\n{text}".rpartition("\nerror: ")
    if not marker:
        return Error(f"{PROGRAM} ended with exit code {exit_code}: {text.strip()}", None, exit_code)
    message, _, hint = last.partition("\nhint: ")
    return Error(message.strip(), hint.strip() or None, exit_code)
