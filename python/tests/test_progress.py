"""Progress: one line in a terminal, nothing in a pipe. Notebooks are tested with those of `examples/`."""

import os
import pty
import subprocess
import sys

import mle_star
import pytest
from mle_star._progress import Progress

EVENTS = [
    {"event": "run_started", "run_id": "a-name", "elapsed": 0.0, "time_limit": 60, "metric": "log loss"},
    {"event": "said", "run_id": "a-name", "text": "agents: offline (as requested)"},
    {"event": "phase_started", "run_id": "a-name", "phase": "phase2"},
    {"event": "best", "run_id": "a-name", "score": 0.123456789},
    None,
]
SHOW = f"""
from mle_star._progress import Progress
with Progress("a-name-that-is-longer-than-the-line", quiet=False) as progress:
    for event in {EVENTS!r}:
        progress.update(event)
"""


def shown(*, terminal: bool) -> str:
    own, others = pty.openpty() if terminal else os.pipe()
    environment = {**os.environ, "COLUMNS": "90"}
    subprocess.run([sys.executable, "-c", SHOW], stderr=others, stdout=others, env=environment, check=True)
    os.close(others)
    text = b""
    try:
        while part := os.read(own, 4096):
            text += part
    except OSError:  # the terminal is closed
        pass
    os.close(own)
    return text.decode()


def test_a_terminal_shows_one_line_that_changes() -> None:
    text = shown(terminal=True)
    assert text.count("\n") == 1
    assert text.rstrip().rpartition("\x1b[2K")[2] == (
        "mle-star: refinement (2 of 4) · log loss 0.12346 · 0s of 1m 00s · offline agents · a-name"
    )


def test_a_pipe_shows_nothing() -> None:
    assert shown(terminal=False) == ""


def test_a_run_prints_nothing_into_pipes(finished: mle_star.Run, capfd: pytest.CaptureFixture[str]) -> None:
    finished.wait()
    finished.resume()
    assert capfd.readouterr() == ("", "")


def test_quiet_is_quiet() -> None:
    with Progress("name", quiet=True) as progress:
        progress.update(EVENTS[0])
