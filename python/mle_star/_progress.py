"""The progress of a run: one line that changes, in a terminal or a notebook, and nothing elsewhere."""

import html
import importlib
import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

#: Seconds between two changes of the line.
_PAUSE = 0.1
_PHASES = {
    "phase1": "first solutions (1 of 4)",
    "phase2": "refinement (2 of 4)",
    "phase3": "ensembles (3 of 4)",
    "finalization": "final checks (4 of 4)",
}


class Progress:
    """The line, from `with` to its end."""

    def __init__(self, name: str, *, quiet: bool) -> None:
        self.name = name
        self._show = None if quiet else _display()
        self._began = self._shown = time.monotonic()
        self._limit: float | None = None
        self._agents = self._phase = ""
        self._metric, self._best, self._scores = "score", None, ""
        self._done = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._show is not None:
            self._show(self._line(), is_last=True)

    def update(self, event: dict[str, Any] | None) -> None:
        """Takes an event in, or `None` if only time has passed, and shows the line."""
        if event is not None:
            self.name = self.name or event["run_id"]
            if done := event.get("done"):
                self._done = f"{done['percent']} % of the {done['of']}"
        match event:
            case {"event": "run_started", "elapsed": elapsed, "time_limit": limit, "metric": metric}:
                self._began = time.monotonic() - elapsed
                self._limit, self._metric, self._best, self._scores = limit, metric, None, ""
            case {"event": "said", "text": str(text)} if text.startswith("agents: "):
                self._agents = text.removeprefix("agents: ").split(" ")[0]
            case {"event": "said", "text": str(text)} if text.startswith(("expect ", f"{self._metric}: ")):
                # The score to expect is said first.
                self._scores = self._scores or text
            case {"event": "phase_started", "phase": phase}:
                self._phase = _PHASES.get(phase, phase)
            case {"event": "best", "score": score}:
                self._best = score
            case {"event": "run_ended"}:
                self._phase, self._limit = "ended", None
        if self._show is not None and time.monotonic() - self._shown >= _PAUSE:
            self._shown = time.monotonic()
            self._show(self._line(), is_last=False)

    def _line(self) -> str:
        seconds = _time(time.monotonic() - self._began)
        clock = seconds if self._limit is None else f"{seconds} of {_time(self._limit)}"
        best = self._scores or ("" if self._best is None else f"{self._metric} {self._best:.5g}")
        agents = self._agents and f"{self._agents} agents"
        # What matters least comes last, where a narrow terminal cuts.
        return "mle-star: " + " · ".join(
            part for part in [self._phase, best, self._done, clock, agents, self.name] if part
        )


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m" if hours else f"{minutes}m {rest:02}s" if minutes else f"{rest}s"


def _display() -> Callable[..., None] | None:
    """What shows a line: the cell of a notebook, the terminal, or nothing."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if hasattr(shell, "kernel"):
        return _in_notebook()
    return _in_terminal if sys.stderr is not None and sys.stderr.isatty() else None


def _in_notebook() -> Callable[..., None]:
    ipython: Any = importlib.import_module("IPython.display")
    shown = ipython.display(ipython.HTML(""), display_id=True)

    def show(line: str, *, is_last: bool) -> None:
        color = "inherit" if is_last else "#57606a"
        shown.update(
            ipython.HTML(f'<div style="color: {color}; font-variant-numeric: tabular-nums">{html.escape(line)}</div>')
        )

    return show


def _in_terminal(line: str, *, is_last: bool) -> None:
    width = shutil.get_terminal_size().columns - 1
    sys.stderr.write(f"\r\x1b[2K{line[:width]}" + ("\n" if is_last else ""))
    sys.stderr.flush()
