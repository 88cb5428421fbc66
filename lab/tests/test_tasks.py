"""Generated tasks are those that were measured; intervals in simulated worlds are those of the program."""

import hashlib
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
import coverage
import tasks

# Of all files with seed 1, as the builds wrote them whose results are in lab/measured.
DIGESTS = {
    "loyalty": "e22b82b5d8a7109d",
    "deliveries": "c02722da3b741197",
    "patients": "6306b6ff0e1b2f0a",
    "demand": "97208e934e6babc9",
    "fraud": "f71ad36188518288",
    "contracts": "0b10a3ec79eb0a97",
    "clicks": "458669834f62c3f9",
    "crops": "600b76fa54ecdd84",
    "merchants": "7929e98aec30718f",
    "houses": "aa4b2cfbd390d782",
    "sensors": "58239b558e92f767",
    "grades": "b1092143c51e4b4a",
    "orders": "2878754c23d80036",
    "clinic": "64de470ff38b2f60",
    "trips": "bc97a6538536da41",
    "reviews": "875b759770bb6743",
    "claims": "32421942351f5d9f",
    "stores": "785a773f28083bf9",
    "clients": "0cde45f8dff16718",
    "parts": "61d79fe31c3ce98c",
}


def test_every_task_is_compared() -> None:
    assert list(DIGESTS) == list(tasks.TASKS)


@pytest.mark.parametrize(
    "name", [name if name == "clinic" else pytest.param(name, marks=pytest.mark.deep) for name in DIGESTS]
)
def test_a_task_and_a_seed_determine_every_byte(name: str, tmp_path: Path) -> None:
    found = tasks.write(name, 1, tmp_path)
    answers = tmp_path / "answers" / f"{name}-1.csv"
    written = [*sorted((tmp_path / "tasks" / f"{name}-1").iterdir()), answers]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in written))
    assert digest.hexdigest()[:16] == DIGESTS[name]
    assert list(answers.parent.iterdir()) == [answers]
    is_error = found["metric"] in tasks.LOWER_IS_BETTER
    assert (found["best"] < found["constant"]) == is_error


def test_the_held_out_interval_is_that_of_the_program() -> None:
    def measured(between: float, within: float, groups: float, rows: float) -> dict:
        spread = {"between": between, "within": within, "of": {"groups": groups, "rows": rows}}
        return {"score": 1.0, "bounds": {"low": 0.0}, "spread": spread | {"test": {"groups": 5.0, "rows": 100.0}}}

    # The numbers of `groups_count_on_both_sides` in crates/mle-star-domain/src/measure/interval.rs.
    many, few = measured(0.06, 2.5, 8, 160), measured(0.04, 2.0, 2, 40)
    assert coverage.interval_beside(few, many, True) == pytest.approx([0.187_153_986, 1.812_846_014])
    own = coverage.interval_beside(measured(0.04, 2.0, 8, 160), {}, True)
    assert own == pytest.approx([0.495_608_409, 1.504_391_591])


@pytest.mark.deep
@pytest.mark.parametrize("name", ["rows", "10 groups", "three periods", "own ends, by series"])
def test_worlds_have_intervals_around_their_scores(name: str) -> None:
    one = coverage.case(name, 0)
    low, high = one.intervals[0]
    assert low < one.held_out < high
    assert 0 < one.hidden < 10 * one.validated
