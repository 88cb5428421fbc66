"""Runs with the real program and its offline agents."""

import copy
import datetime
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mle_star
import numpy as np
import pandas as pd
import pytest
from conftest import TINY
from mle_star._start import _name, _options, _put, _setting

#: Seconds that anything may take here.
PATIENCE = 120


def test_a_finished_run_has_everything(finished: mle_star.Run, wine: pd.DataFrame) -> None:
    assert finished.status == "finished"
    result = json.loads((finished.path / "result.json").read_text())
    assert finished.result == result
    assert finished.score == result["trust"]["validation_score"]
    assert finished.interval == tuple(result["trust"]["validation_interval"])
    assert finished.held_out == result["trust"]["holdout_score"]
    assert finished.held_out_interval == tuple(result["trust"]["holdout_interval"])
    assert list(finished.submission) == ["row_id", "0", "1", "2"]
    assert len(finished.submission) == round(len(wine) / 5)
    compile(finished.solution, "solution.py", "exec")
    assert [event["event"] for event in finished.events()][-1] == "run_ended"


def test_the_leaderboard_is_sorted(finished: mle_star.Run) -> None:
    board = finished.leaderboard()
    assert list(board) == ["place", "model", "score", "low", "high", "seconds", "kept"]
    assert board["score"].is_monotonic_increasing
    assert not board["place"].duplicated().any()
    assert "LightGBM" in board["model"].tolist()
    known = board.dropna(subset="low")
    assert (known["low"] <= known["score"]).all()
    assert (known["score"] <= known["high"]).all()
    assert not known.empty


def test_other_rows_are_predicted_in_their_order(finished: mle_star.Run, wine: pd.DataFrame) -> None:
    rows = wine.drop(columns="target").iloc[[150, 3, 70]].set_axis(["c", "a", "b"]).assign(unknown="x")
    predicted = finished.predict(rows)
    assert predicted.index.tolist() == ["c", "a", "b"]
    assert predicted[["0", "1", "2"]].idxmax(axis=1).tolist() == ["2", "0", "1"]
    with pytest.raises(mle_star.Error, match="hue"):
        finished.predict(rows.drop(columns="hue"))


def test_predictions_for_the_test_rows_are_the_submission(finished: mle_star.Run) -> None:
    rows = pd.read_csv(finished.path / "input/test.csv")
    pd.testing.assert_frame_equal(finished.predict(rows), finished.submission)


def test_a_run_is_opened_copied_and_pickled(finished: mle_star.Run) -> None:
    for same in [mle_star.Run.open(finished.path), copy.deepcopy(finished), pickle.loads(pickle.dumps(finished))]:
        assert same.path == finished.path
        assert same.score == finished.score
        assert same.wait(quiet=True) is same
    with pytest.raises(mle_star.Error) as caught:
        mle_star.Run.open("nothing")
    assert caught.value.exit_code == 2


def test_a_run_shows_itself(finished: mle_star.Run, tmp_path: Path) -> None:
    assert finished.path.name in repr(finished)
    assert "held out" in repr(finished)
    shown = finished._repr_html_()
    assert str(finished.path) in shown
    assert "the answer</text>" in shown  # the picture
    page = finished.report(tmp_path / "page.html")
    assert page == tmp_path / "page.html"
    assert "<html" in page.read_text()
    assert finished.report(finished.path / "report.html").exists()


def test_the_score_to_expect_comes_first(finished: mle_star.Run, tmp_path: Path) -> None:
    shutil.copytree(finished.path, tmp_path / "copy", symlinks=True)
    run = mle_star.Run(tmp_path / "copy")
    expected = {"score": 0.12345678, "interval": [0.1, 0.25], "from": "both", "constant": 1.09}
    (run.path / "result.json").write_text(json.dumps({**finished.result, "expected": expected}))
    assert run.expected == expected
    words = "finished, log loss: 0.1235 expected [0.1, 0.25], "
    assert words in repr(run)
    assert words in run._repr_html_()


def test_importance_is_given_or_refused_with_a_reason(finished: mle_star.Run) -> None:
    if finished.result.get("importance") is None:
        with pytest.raises(mle_star.Error, match="importance"):
            finished.importance()
    else:
        assert list(finished.importance()) == ["column", "difference", "low", "high"]


@pytest.mark.deep
def test_a_table_file_and_a_test_table(wine: pd.DataFrame, tmp_path: Path) -> None:
    wine.to_csv(tmp_path / "my.wine.csv.gz", index=False)
    new = wine.drop(columns="target").head(30)
    run = mle_star.run(
        "my.wine.csv.gz", test=new, target="target", metric="accuracy", agents="offline",
        time_limit=60, run_id="named", quiet=True, seed=7, **TINY,
    )  # fmt: skip
    assert run.path == tmp_path / "runs/named"
    assert run.result["config"]["seed"] == 7
    assert run.submission["target"].tolist() == [0] * 30
    assert run.held_out is None


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        ({"data": "nothing.csv"}, "no such folder or file: nothing.csv", "give a data folder"),
        ({"data": "table.csv", "metric": "RMSE", "target": "z"}, '"z"', ""),
        ({"data": "table.csv", "sed": 1}, 'unknown config key "sed"', "did you mean seed?"),
        ({"data": "table.csv", "timelimit": 1}, 'unknown config key "timelimit"', "did you mean time_limit_seconds?"),
        ({"data": "table.csv", "openAI.url": "x"}, 'unknown config key "openAI.url"', "did you mean openai"),
        ({"data": "table.csv", "metric": "RMSE", "time_limit": "soon"}, 'time_limit_seconds is "soon"', "10m"),
        ({"data": "table.csv", "test": "table.csv", "folder": "table.csv"}, "the folder of runs cannot be", "`folder`"),
        ({"data": ".", "test": "table.csv"}, ". is no file", "the path of a table"),
        ({"data": "table.csv", "test": "nothing.csv"}, "nothing.csv is no file", "the path of a table"),
        ({"data": "table.csv", "time_limit": float("inf")}, 'time_limit_seconds is "inf"', "10m"),
        ({"data": "table.csv", "time_limit": datetime.timedelta(1)}, 'time_limit_seconds is "1 day', "10m"),
    ],
)
def test_what_the_program_refuses(arguments: dict[str, Any], message: str, hint: str, tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("x,y\n" + "".join(f"{row},{row * row}\n" for row in range(200)))
    with pytest.raises(mle_star.Error) as caught:
        mle_star.run(**arguments)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")
    assert caught.value.exit_code == 2
    assert not list(Path("runs").rglob("*"))


def test_settings_of_all_kinds_are_passed_on() -> None:
    settings = {
        "seed": np.int64(3),
        "holdout": 0.25,
        "ignore_columns": ["a, b", "c"],
        "folds": np.array([1, 2]),
        "metric_file": Path("metric.py"),
        "warm_start": True,
        "phase_time_budget": {"phase1_pct": 20},
        "learn_from": ["one", "two"],
        "jobs": 2,
        "group_column": None,
    }
    assert [word for name, value in settings.items() for word in _setting(name, value)] == [
        "--set=seed=3",
        "--set=holdout=0.25",
        '--set=ignore_columns=["a, b", "c"]',
        "--set=folds=[1, 2]",
        "--set=metric_file=metric.py",
        "--set=warm_start=true",
        '--set=phase_time_budget={"phase1_pct": 20}',
        "--learn-from=one",
        "--learn-from=two",
        "--jobs=2",
    ]


@pytest.mark.parametrize(
    ("target", "columns", "name"),
    [
        ("my price", ["--target=my price"], "my-price"),
        (["a", "b"], ["--target=a,b"], "a-b"),
        (("a", 13), ["--target=a,13"], "a-13"),
        (0, ["--target=0"], "0"),
        (["column" * 10] * 20, ["--target=" + ",".join(["column" * 10] * 20)], "column" * 10),
        (None, [], "frame"),
    ],
)
def test_targets_have_names_and_their_folder_a_short_one(target: Any, columns: list[str], name: str) -> None:
    assert _options("runs", target, 60.0, {}) == (Path("runs"), ["--runs-dir=runs", *columns, "--time-limit=60"])
    assert _name(target) == name


@pytest.mark.parametrize("name", ["prices.csv", "prices.csv.zstd", "PRICES.CSV.GZ", "a.b.csv.zip"])
def test_a_packed_table_stays_one_beside_a_test_table(name: str, tmp_path: Path) -> None:
    Path(name).touch()
    _put(name, tmp_path / "train")
    assert (tmp_path / f"train.{name.partition('b.' if name.startswith('a') else '.')[2]}").is_symlink()


def test_a_started_run_is_stopped_and_resumed(wine: pd.DataFrame) -> None:
    run = mle_star.start(wine, target="target", metric="log loss", agents="offline", time_limit=20)
    assert run.status == "running"
    with pytest.raises(mle_star.Error, match="is running and has no result"):
        _ = run.result
    # As another process would see it.
    other = mle_star.Run.open(run.path)
    assert other.stop().status == "unfinished"
    with pytest.raises(mle_star.Error, match="interrupted") as caught:
        other.wait(quiet=True)
    assert caught.value.exit_code == 130
    assert run.resume(quiet=True).status == "finished"
    longer = mle_star.Run.open(run.path).resume(time_limit=22, quiet=True)
    assert longer.result["config"]["time_limit_seconds"] == 22


@pytest.mark.deep
def test_another_process_waits_for_a_run(wine: pd.DataFrame) -> None:
    run = mle_star.start(wine, target="target", metric="log loss", agents="offline", time_limit=60, **TINY)
    assert mle_star.Run.open(run.path).wait(quiet=True).status == "finished"
    assert run.wait(quiet=True) is run


INTERRUPTED = """
import mle_star, sklearn.datasets
wine = sklearn.datasets.load_wine(as_frame=True).frame
mle_star.run(wine, target="target", metric="log loss", agents="offline", time_limit=30, run_id="cut")
"""


def test_an_interrupt_leaves_a_run_that_resumes() -> None:
    # In a group of its own, and the signal goes to the whole group, as Ctrl-C of a terminal and Jupyter do.
    python = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    until(lambda: any(event["event"] == "script_started" for event in mle_star.Run("runs/cut").events()))
    os.killpg(python.pid, signal.SIGINT)
    out, err = python.communicate(timeout=PATIENCE)
    assert out == ""
    assert "KeyboardInterrupt" in err
    assert "resume()" in err
    run = mle_star.Run.open("runs/cut")
    assert run.status == "unfinished"
    assert list(run.events())[-1]["exit_code"] == 130


def until(holds: Any) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)
