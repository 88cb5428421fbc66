"""Scores by Python files of users."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mle_star_data import labels, measure, metrics, predictions, tables
from mle_star_data.intervals import Target
from mle_star_data.labels import Columns
from mle_star_data.measure import Folds, Scoring
from mle_star_data.metric_file import LabelledRows, MetricFile
from mle_star_data.predictions import Layout
from mle_star_data.tables import Refused

# The metrics in the convention of Kaggle and in that of MLE-bench.
ACCURACY = """
import pandas as pd
from sklearn.metrics import accuracy_score

def score(solution: pd.DataFrame, submission: pd.DataFrame, row_id_column_name: str) -> float:
    assert list(solution[row_id_column_name]) == list(submission[row_id_column_name])
    assert solution[row_id_column_name].is_unique
    return accuracy_score(solution['y'], submission['y'])
"""
RMSE = """
def grade(submission, answers):
    merged = answers.merge(submission, on='id', suffixes=('', '_predicted'), validate='one_to_one')
    return ((merged.y - merged.y_predicted) ** 2).mean() ** 0.5
"""
LOG_LOSS = """
import kaggle_metric_utilities
from sklearn.metrics import log_loss

def score(solution, submission, row_id_column_name):
    del solution[row_id_column_name], submission[row_id_column_name]
    kaggle_metric_utilities.verify_valid_probabilities(submission, 'submission')
    return kaggle_metric_utilities.safe_call_score(log_loss, solution.values, submission[solution.columns].values)
"""
Y = Layout(["id", "y"], "id")


def table(path: Path, header: str, row: Callable[[int], str], rows: int = 60) -> str:
    path.write_text(f"id,{header}\n" + "".join(f"{at},{row(at)}\n" for at in range(rows)))
    return str(path)


def both(folder: Path, metric: str, text: str, answers: str, layout: Layout, rows: Scoring) -> list[dict[str, Any]]:
    """What the program and a file compute of the same files."""
    known = metrics.named(metric)
    assert known is not None
    train, predicted = str(folder / "train.csv"), str(folder / "predicted.csv")
    columns = Columns("y", "id", cluster="g" if "g" in tables.header(train) else None)
    read = predictions.read(predicted, labels.read(train, columns, known), layout, "reject")
    own = measure.measurement(rows.in_folds(read), rows, 50)
    file = MetricFile("mine.py", text, {}, answers)
    known_rows = LabelledRows.of(tables.read(train), columns)
    return [own, file.measurement(known_rows, layout, predicted, "reject", rows, 50, "whole")]


WIDE = Layout(["id", "p_1", "p_0", "p_2"], "id")


@pytest.mark.parametrize(
    ("metric", "text", "answers", "layout", "header", "truth", "guess"),
    [
        (
            "accuracy",
            ACCURACY,
            "targets",
            Y,
            "y",
            lambda at: ["cat", "no", "NA dog"][at % 3],
            lambda at: ["cat", "no", "NA dog"][at * at % 3],
        ),
        ("RMSE", RMSE, "targets", Y, "y", lambda at: f"{at % 7}.5", lambda at: f"{at % 5}"),
        (
            "log loss",
            LOG_LOSS,
            "submission",
            WIDE,
            "p_1,p_0,p_2",
            lambda at: f"{at % 3}",
            lambda at: ["0.5,0.25,0.25", "0.1,0.8,0.1"][at % 2],
        ),
    ],
)
def test_a_file_and_the_program_compute_the_same(
    tmp_path: Path,
    metric: str,
    text: str,
    answers: str,
    layout: Layout,
    header: str,
    truth: Callable[[int], str],
    guess: Callable[[int], str],
) -> None:
    table(tmp_path / "train.csv", "y", truth)
    table(tmp_path / "predicted.csv", header, guess)
    own, by_file = both(tmp_path, metric, text, answers, layout, Scoring(Target(rows=30)))
    for name in ("score", "standard_error", "replicates"):
        assert by_file[name] == pytest.approx(own[name], abs=1e-9), name
    assert len(own["replicates"]) == 50
    assert (own["rows"], own["rows_digest"]) == (by_file["rows"], by_file["rows_digest"])
    low, high = by_file["interval"]
    assert low < by_file["score"] < high


def test_groups_are_left_out_as_the_program_does(tmp_path: Path) -> None:
    table(tmp_path / "train.csv", "y,g", lambda at: f"{at % 7},{at % 10}")
    table(tmp_path / "predicted.csv", "y", lambda at: f"{at % 5}")
    own, by_file = both(
        tmp_path, "RMSE", RMSE, "targets", Y, Scoring(Target("groups", groups=10.0, rows_of_groups=60.0))
    )
    assert by_file["score"] == pytest.approx(own["score"])
    # Without replicates of single rows, all of the variance counts as that between groups.
    assert by_file["spread"]["within"] == 0.0
    assert by_file["spread"]["of"] == own["spread"]["of"]
    assert by_file["interval"][0] < by_file["score"] < by_file["interval"][1]
    assert "no_interval" not in by_file


def test_a_file_scores_periods_and_the_rows_of_both_scripts_as_the_program_does(tmp_path: Path) -> None:
    """The score of periods is their mean, and two scripts are compared on the rows of both."""
    train = table(tmp_path / "train.csv", "y", lambda _: "0")
    predicted = table(tmp_path / "predicted.csv", "y", lambda at: f"{1 + 3 * (at // 20)}")
    folds = table(tmp_path / "folds.csv", "fold", lambda at: f"{at // 20}")
    # The last period, and half of the second one, each worse by one.
    lines = Path(table(tmp_path / "some.csv", "y", lambda at: f"{2 + 3 * (at // 20)}")).read_text().splitlines()
    (tmp_path / "some.csv").write_text("\n".join([lines[0], *lines[31:]]) + "\n")
    rows = Scoring(Target("period"), Folds.read(folds), averages=True)
    own, by_file = both(tmp_path, "RMSE", RMSE, "targets", Y, rows)
    assert by_file["score"] == own["score"] == pytest.approx(4.0)
    assert by_file["periods"] == own["periods"]
    assert by_file["mean_over_periods"]
    # Each replicate takes a call for each period.
    assert by_file["replicates"] == pytest.approx(own["replicates"][:16])
    file, known = MetricFile("mine.py", RMSE), LabelledRows.of(tables.read(train), Columns("y", "id"))
    some = str(tmp_path / "some.csv")
    measured = file.measurement(known, Y, some, "reject", rows, 50, "whole")
    assert (measured["score"], measured["rows"]) == (pytest.approx(6.5), 30)
    found = file.compare(known, Y, (predicted, some), rows, 50, 20)
    assert (found["rows"], found["difference"]["by"]) == (30, pytest.approx(-1.0))
    assert file.compare(known, Y, (predicted, some), rows, 50, 31) == {"rows": 30, "difference": None}


def test_halves_are_those_of_the_program(tmp_path: Path) -> None:
    text = table(tmp_path / "labels.csv", "y", lambda at: "" if at == 7 else f"{at % 7}")
    # The predictions are in another order than the labels.
    lines = Path(table(tmp_path / "predicted.csv", "y", lambda at: f"{at % 5}")).read_text().splitlines()
    (tmp_path / "predicted.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    columns, metric = Columns("y", "id"), metrics.named("RMSE")
    known = LabelledRows.of(tables.read(text), columns)
    assert metric is not None
    halves = labels.read(text, columns, metric).halves()
    file, predicted = MetricFile("mine.py", RMSE), str(tmp_path / "predicted.csv")
    for part, half in (("choosing", halves[0]), ("reporting", halves[1])):
        own = measure.measurement(predictions.read(predicted, half, Y, "ignore"), Scoring(), 20)
        by_file = file.measurement(known, Y, predicted, "ignore", Scoring(), 20, part)
        assert (own["rows_digest"], own["score"]) == (by_file["rows_digest"], pytest.approx(by_file["score"]))
    whole = file.measurement(known, Y, predicted, "ignore", Scoring(), 20, "whole")
    assert whole["rows"] == 59
    (tmp_path / "predicted.csv").write_text("\n".join(lines[:41]) + "\n")
    with pytest.raises(Refused, match="20 of 59 rows that need a prediction have none"):
        file.measurement(known, Y, predicted, "ignore", Scoring(), 20, "whole")


def score(folder: Path, text: str, limit: float = 60.0, modules: dict[str, str] | None = None) -> dict[str, Any]:
    train = table(folder / "train.csv", "y", lambda at: f"{at % 7}")
    predicted = table(folder / "predicted.csv", "y", lambda at: f"{at % 5}")
    file = MetricFile("mine.py", text, modules or {}, limit=limit)
    known = LabelledRows.of(tables.read(train), Columns("y", "id"))
    return file.measurement(known, Y, predicted, "reject", Scoring(), 20, "whole")


def test_a_file_may_refuse_resampled_rows(tmp_path: Path) -> None:
    whole = "def grade(s, a):\n    assert len(s) == 60\n    assert s.id.max() < 60\n    return 1.0"
    found = score(tmp_path, whole)
    assert (found["score"], found["standard_error"], found["interval"], found["replicates"]) == (1.0, None, None, [])
    assert found["no_interval"] == "the metric file has no score for resampled rows"
    # It refuses IDs that it does not know, so drawn rows count once.
    known = "def grade(s, a):\n    assert s.id.max() < 60\n    return (s.y - a.y).abs().mean()"
    assert score(tmp_path, known)["standard_error"] == pytest.approx(
        score(tmp_path, "def grade(s, a):\n    return (s.y - a.y).abs().mean()")["standard_error"], rel=0.5
    )


REFUSING = """
class ParticipantVisibleError(Exception): pass

def score(solution, submission, row_id_column_name):
    if (submission.y > 3).any():
        raise ParticipantVisibleError('y is at\\nmost 3')
    return 1.0
"""
ENDED = "mine.py ended Python before there was a score: "


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (REFUSING, "mine.py, line 6, raised ParticipantVisibleError: y is at most 3"),
        ("def grade(s, a):\n    return 1 / 0", "mine.py, line 2, raised ZeroDivisionError: division by zero"),
        ("def grade(s, a):\n    raise SystemExit", "mine.py, line 2, raised SystemExit"),
        ("def grade(s, a:\n    pass", "mine.py, line 1, raised SyntaxError: "),
        (
            "def grade(s, a):\n    return float('nan')",
            "mine.py, line 1, returned nan, which is no finite number",
        ),
        ("\ndef grade(s, a):\n    return 'good'", "mine.py, line 2, returned 'good', which is no number"),
        ("def grade(s, a):\n    return None", "mine.py, line 1, returned None, which is no number"),
        ("import os\ndef grade(s, a):\n    os._exit(0)", ENDED + "it printed no error"),
        (
            "import os\ndef grade(s, a):\n    print('out of paper\\n')\n    os._exit(3)",
            ENDED + "out of paper",
        ),
        ("import os, signal\ndef grade(s, a):\n    os.kill(os.getpid(), signal.SIGKILL)", ENDED + "signal 9 ended it"),
        (
            "\nimport mlebench_is_missing",
            "mine.py, line 2, imports mlebench_is_missing, which the Python interpreter lacks",
        ),
        (
            "X = 1",
            "mine.py has neither score(solution, submission, row_id_column_name) nor grade(submission, answers)",
        ),
        ("import helper\ndef grade(s, a):\n    return helper.wrong()", "helper.py, line 2, raised KeyError: 'no'"),
    ],
)
def test_what_a_file_does_wrong_is_one_sentence(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Refused) as refused:
        score(tmp_path, text, modules={"helper.py": "def wrong():\n    raise KeyError('no')\n"})
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "def grade(s, a):\n    while True: pass",
        "while True: print('busy', flush=True)",
        "import subprocess\ndef grade(s, a):\n    subprocess.run(['sleep', '300'])",
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(300)",
    ],
)
def test_a_file_that_hangs_is_ended(tmp_path: Path, text: str) -> None:
    with pytest.raises(Refused, match=r"^mine.py takes longer than 1 s for a score$"):
        score(tmp_path, text, limit=1.0)


def test_what_a_file_prints_is_no_answer(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = """
import os, subprocess, sys

def grade(submission, answers):
    print('hello', flush=True)
    os.write(1, b'{"answer": {}}')
    subprocess.run(['echo', 'hi'])
    assert sys.stdin.read() == ''
    return 0.5
"""
    assert score(tmp_path, text)["score"] == 0.5
    out, said = capfd.readouterr()
    assert out == ""
    assert "hello" in said
    assert "hi" in said


def test_what_a_file_does_stays_in_its_process(tmp_path: Path) -> None:
    text = "import os\nimport numpy as np\nnp.mean = None\nopen('left', 'w')\ndef grade(s, a):\n    return 1.0"
    here = Path.cwd()
    assert score(tmp_path, text)["score"] == 1.0
    assert float(np.mean([1.0])) == 1.0
    assert Path.cwd() == here
    assert not Path("left").exists()


def test_predictions_of_other_rows_are_refused(tmp_path: Path) -> None:
    train = tables.read(table(tmp_path / "train.csv", "y", lambda at: f"{at % 7}"))
    (tmp_path / "predicted.csv").write_text("id,y\n1,1\n99,1\n")
    file, known = MetricFile("mine.py", RMSE), LabelledRows.of(train, Columns("y", "id"))
    with pytest.raises(Refused, match="1 rows have an ID that is not expected, for example `99`"):
        file.measurement(known, Y, str(tmp_path / "predicted.csv"), "reject", Scoring(), 20, "whole")


def test_rows_without_an_id_are_named_by_their_number(tmp_path: Path) -> None:
    (tmp_path / "train.csv").write_text('y\n1\n""\n2\n3\n')
    text = """
def score(solution, submission, row_id_column_name):
    assert row_id_column_name == 'row_id' and list(solution.row_id)[:1] == [0]
    return float((solution.y - submission.y).abs().max()) + 10 * len(solution)
"""
    found = LabelledRows.of(tables.read(str(tmp_path / "train.csv")), Columns("y"))
    assert list(found.ids) == ["0", "2", "3"]
    (tmp_path / "predicted.csv").write_text("y\n1\n")
    file = MetricFile("mine.py", text)
    measured = file.measurement(found, Layout(["y"]), str(tmp_path / "predicted.csv"), "reject", Scoring(), 5, "whole")
    assert (measured["score"], measured["rows"]) == (10.0, 1)


def trial(folder: Path, text: str, header: str, modules: dict[str, str] | None = None) -> dict[str, Any]:
    train = table(folder / "train.csv", "y", lambda at: f"{at % 3}")
    sample = folder / "sample.csv"
    sample.write_text("id,y\n60,0.5\n")
    file = MetricFile("mine.py", text, modules or {}, limit=30.0)
    return file.trial(train, {"target": "y", "id": "id"}, header.split(","), "id", False, str(sample))


SAME = "def grade(s, a):\n    assert (s.y == 0.5).all()\n    return 1.0"


@pytest.mark.parametrize(
    ("text", "header", "answers"),
    [
        (ACCURACY, "id,y", "targets"),
        (RMSE, "id,y", "targets"),
        (LOG_LOSS, "id,p_1,p_0,p_2", "submission"),
        ("def grade(s, a):\n    return s.p.sub(a.p).abs().max()", "id,p", "submission"),
        # Predictions have another form than the truth: those of the sample are `0.5`.
        (SAME, "id,y", "targets"),
        # Modules beside it are imported with and without a dot.
        (
            "from helper import ONE\nfrom .helper import ONE as S\ndef grade(s, a):\n    return ONE * S",
            "id,y",
            "targets",
        ),
    ],
)
def test_a_file_is_tried_with_labelled_rows(tmp_path: Path, text: str, header: str, answers: str) -> None:
    found = trial(tmp_path, text, header, {"helper.py": "ONE = 1.0\n"})
    assert (found["answers"], found["rows"], found["resamples"]) == (answers, 60, True)
    assert np.isfinite(found["score"])
    assert 0.0 <= found["seconds"] < 30.0


def test_a_trial_says_the_first_reason(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"^mine.py, line 2, raised KeyError: 'nothing'$"):
        trial(tmp_path, "def grade(s, a):\n    return a['nothing']", "id,y")
    with pytest.raises(Refused, match="imports mlebench_is_missing, which the Python interpreter lacks"):
        trial(tmp_path, "import mlebench_is_missing", "id,y")
    assert trial(tmp_path, "def grade(s, a):\n    assert len(s) == 60\n    return 1.0", "id,y")["resamples"] is False


def test_two_classes_may_be_tried_with_probabilities(tmp_path: Path) -> None:
    train = table(tmp_path / "train.csv", "y,extra", lambda at: f"{['no', 'yes'][at % 2]},{at}")
    text = "def grade(s, a):\n    assert set(s.y) == {0.1, 0.9}\n    return float(a['extra'].sum())"
    file = MetricFile("mine.py", text)
    found = file.trial(train, Columns("y", "id"), ["id", "y"], "id", True, str(tmp_path / "none.csv"))
    assert (found["answers"], found["score"]) == ("named", sum(range(60)))
