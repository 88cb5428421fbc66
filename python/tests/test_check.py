"""`mle_star.check`."""

import json
from pathlib import Path

import mle_star
import pytest

LEAK = """\
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
train = pd.read_csv("train.csv")
x, y = train.drop(columns="y"), train["y"]
model = LogisticRegression().fit(x, y)
print("Final Validation Performance:", accuracy_score(y, model.predict(x)))
"""


def test_a_text_and_a_file_have_the_same_findings(tmp_path: Path) -> None:
    file = tmp_path / "train.py"
    file.write_text(LEAK)
    found = [mle_star.check(source) for source in (LEAK, file, str(file), tmp_path)]
    assert [[finding["rule"] for finding in findings] for findings in found] == [["scored-on-training-rows"]] * 4
    assert found[0][0]["path"] == "<stdin>"
    assert found[1][0]["path"] == str(file)
    assert found[0][0]["severity"] == "block"
    assert found[0][0]["line"] == 7


@pytest.mark.parametrize("script", ["import pandas\n", "print(1)", "", f"print({'1' * 300})"])
def test_a_script_without_leaks_has_no_findings(script: str) -> None:
    assert mle_star.check(script) == []


def test_a_cell_that_cannot_be_parsed_is_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "train.ipynb"
    cells = [{"cell_type": "code", "source": source} for source in (LEAK, "model = (")]
    file.write_text(json.dumps({"cells": cells}))
    with pytest.warns(UserWarning, match="train.ipynb: cell 2 is left out: syntax error in line 1"):
        found = mle_star.check(file)
    assert [(finding["cell"], finding["line"]) for finding in found] == [(1, 7)]


def test_a_path_may_look_like_an_option() -> None:
    Path("-p.py").write_text("print(1)")
    assert mle_star.check("-p.py") == []


@pytest.mark.parametrize("source", ["def f(:\n", "nothing.py", Path("nothing")])
def test_what_cannot_be_checked_is_an_error(source: str | Path) -> None:
    with pytest.raises(mle_star.Error) as caught:
        mle_star.check(source)
    assert caught.value.exit_code == 2
