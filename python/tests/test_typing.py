"""Types and style: of the package, and the types that a user's program sees."""

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PROGRAM = """\
from pathlib import Path

import mle_star
import pandas as pd


def best(frame: pd.DataFrame, test: str | Path) -> tuple[float | None, pd.DataFrame]:
    run = mle_star.run(frame, target="y", test=test, metric="RMSE", time_limit="10m", folder=Path("runs"), seed=1)
    interval: tuple[float, float] | None = run.held_out_interval
    assert interval is None or interval[0] <= interval[1]
    for event in run.events():
        print(event["event"])
    return run.score, run.predict(frame)


def later() -> str:
    try:
        run: mle_star.Run = mle_star.start("data").wait().resume(time_limit=60)
    except mle_star.Error as error:
        return f"{error.exit_code}: {error.message} ({error.hint or ''})"
    return run.solution


rules: list[str] = [finding["rule"] for finding in mle_star.check(Path("train.py"))]
model = mle_star.Classifier(metric="accuracy", agents="offline", time_limit=60)
labels = model.fit(pd.DataFrame(), []).predict(pd.DataFrame())
"""
WRONG = """\
import mle_star

score: str = mle_star.run("data").score
mle_star.run(3)
mle_star.Run.opened("x")
mle_star.run("data", sed=1)
mle_star.Classifier(leakage_gate="on")
"""


def mypy(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout


def test_the_package_is_typed() -> None:
    packages = [str(ROOT / "python" / name) for name in ("mle_star", "mle_star_data")]
    assert mypy("--config-file", str(ROOT / "pyproject.toml"), *packages) == (0, "")


def test_a_program_is_typed(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "wrong.py").write_text(WRONG)
    assert mypy("program.py") == (0, "")
    exit_code, found = mypy("wrong.py")
    assert exit_code == 1
    assert [line.split(":")[1] for line in found.splitlines() if ": error:" in line] == ["3", "4", "5", "6", "7"]


@pytest.mark.parametrize("arguments", [["check", "--no-cache"], ["format", "--no-cache", "--check"]])
def test_the_style_is_that_of_ruff(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "ruff", *arguments, "--config", ROOT / "pyproject.toml", ROOT / "python"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout
