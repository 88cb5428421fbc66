"""The package in an environment that has nothing else."""

import ast
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from conftest import ROOT

PROGRAM = """
import mle_star
run = mle_star.run(
    "table.csv", target="y", metric="RMSE", agents="offline", time_limit=60, num_retrieved_models=1,
    outer_loop_steps=1, inner_loop_steps=1, num_parallel_solutions=1, ensemble_rounds=1,
)
assert run.score < 100 and run.held_out is not None and run.status == "finished", run
assert run.interval[0] <= run.score <= run.interval[1]
assert "import" in run.solution and run.path.name in repr(run)
for use in (lambda: run.submission, lambda: run.leaderboard(), lambda: mle_star.Classifier):
    try:
        use()
    except mle_star.Error as error:
        print(error.message, "/", error.hint)
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "mle_star.pth").write_text(f"{ROOT / 'python'}\n")
    return folder / "bin/python"


def test_a_run_needs_no_library(python: Path, tmp_path: Path) -> None:
    rows = "".join(f"{row % 7},{row % 50},{row % 50 * 3 + row % 7}\n" for row in range(200))
    (tmp_path / "table.csv").write_text(f"a,b,y\n{rows}")
    ended = subprocess.run([python, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == [
        "pandas is not installed, and frames need it / install it with `pip install pandas`",
        "pandas is not installed, and frames need it / install it with `pip install pandas`",
        "Classifier and Regressor need scikit-learn 1.6 or newer / install it with `pip install scikit-learn pandas`",
    ]


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"MLE_STAR_BIN": "", "PATH": "/nowhere"}, "the program mle-star is not installed"),
        ({"MLE_STAR_BIN": "/nowhere/mle-star"}, "MLE_STAR_BIN is '/nowhere/mle-star', which is no program"),
    ],
)
def test_a_missing_program_is_one_error(python: Path, variables: dict[str, str], message: str) -> None:
    environment = {**os.environ, **variables}
    ended = subprocess.run(
        [python, "-c", "import mle_star; mle_star.check('import os')"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert message in ended.stderr
    assert "hint: " in ended.stderr


def test_an_older_python_is_told_in_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = ast.parse((ROOT / "python/mle_star/__init__.py").read_text(), feature_version=(3, 7))
    with monkeypatch.context() as older:
        older.setattr(sys, "version_info", (3, 9, 18))
        with pytest.raises(ImportError, match=r"^mle_star needs Python 3\.11 or newer; this is 3\.9\.18$"):
            exec(compile(parsed, "mle_star", "exec"), {"__name__": "mle_star"})


def test_the_program_of_the_environment_comes_before_that_of_the_path(python: Path) -> None:
    program = python.parent / "mle-star"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment = {**os.environ, "MLE_STAR_BIN": ""}
    try:
        found = subprocess.run(
            [python, "-c", "import mle_star._program as p; print(p.find())"],
            env=environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert found.stdout.strip() == str(program)
    finally:
        program.unlink()
