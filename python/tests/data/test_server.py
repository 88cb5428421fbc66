"""The process that answers questions."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import mle_star_data
import pytest

TRAIN = "id,y\n" + "".join(f"{row},{row % 7}\n" for row in range(60))
SETUP: dict[str, Any] = {
    "metric": "RMSE",
    "columns": {"id": "id", "target": "y"},
    "header": ["id", "y"],
    "id_column": "id",
}


def asked(folder: Path, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    (folder / "train.csv").write_text(TRAIN)
    (folder / "setup.json").write_text(json.dumps(SETUP | {"train": str(folder / "train.csv"), "folder": str(folder)}))
    setup = {"setup": str(folder / "setup.json")}
    lines = "".join(json.dumps(setup | one | {"number": at}) + "\n" for at, one in enumerate(questions))
    command = [sys.executable, "-m", "mle_star_data"]
    environment = os.environ | {"PYTHONPATH": str(Path(mle_star_data.__file__).parent.parent.resolve())}
    done = subprocess.run(command, input=lines, env=environment, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["number"] for one in answers] == list(range(len(questions)))
    return answers


FINE = TRAIN.replace(",6\n", ",5\n")
WRONG = {
    "": "the file is empty",
    "id,y\n": "the file has no rows",
    "id,x\n1,2\n": "the file lacks these columns: `y`; it has these: `id`, `x`",
    "id,y\n1,2,3\n": "row 1 has 3 fields, but the header has 2",
    "id,y\n1,2\n99,1\n": "1 rows have an ID that is not expected, for example `99`",
    "id,y\n99,1\n": "no row has the ID of a labelled row; the IDs in the file are `99`",
    "id,y\n1,2\n2,3\n1,2\n": "the ID `1` occurs more than once",
    "id,y\n1,2\n2,nan\n": "the row with ID `2` has `nan` in column `y`, which is not a finite number",
    "id,y\n1,2\n2,inf\n": "the row with ID `2` has `inf` in column `y`, which is not a finite number",
    "id,y\n1,2\n2,1_000\n": "the row with ID `2` has `1_000` in column `y`, which is not a finite number",
    "id,y\n1,2\n2,many\n": "the row with ID `2` has `many` in column `y`, which is not a finite number",
    "id,y\n1,2\n": "has 1 of 60 labelled rows, too few for a score: validate on at least 20 rows.",
}


def test_predictions_have_a_score_or_a_sentence(tmp_path: Path) -> None:
    files = []
    for at, text in enumerate([FINE, *WRONG]):
        files.append(tmp_path / f"{at}.csv")
        files[-1].write_text(text)
    questions = [{"question": "validation", "file": str(file)} for file in files]
    printed = {"value": 0.5, "rounding": 0.05}
    first, *others, other_score = asked(tmp_path, [*questions, questions[0] | {"printed": printed}])
    measured = first["answer"]["measured"]
    assert measured["score"] == pytest.approx((8 / 60) ** 0.5)
    assert measured["rows"] == 60
    assert measured["interval"][0] < measured["score"] < measured["interval"][1]
    for answer, said in zip(others, WRONG.values(), strict=True):
        assert said in answer["answer"]["mismatch"]
    assert other_score["answer"]["measured"] == measured
    assert other_score["answer"]["note"].startswith("The script printed the score 0.5; RMSE over the 60 rows")


def test_a_question_without_an_answer_ends_nothing(tmp_path: Path) -> None:
    look = {"question": "look", "run": "phase1.candidate-0.run.12345678", "part": "whole"}
    missing, unknown, check = asked(tmp_path, [look, {"question": "?"}, {"question": "check", "file": "none"}])
    assert missing["failure"] == "it left no valid submission"
    assert "error" in unknown
    assert {"answer", "error", "failure"} & check.keys()
