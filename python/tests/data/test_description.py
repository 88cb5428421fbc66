"""What descriptions say: the inputs of the program's corpus, sentences, and the competitions of MLE-bench.

`MLE_STAR_TEST_MLEBENCH` names a checkout of openai/mle-bench, whose texts are not here.
"""

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import pytest
from mle_star_data.described_columns import positive_class, target_named
from mle_star_data.description import direction_said, read_metric
from mle_star_data.readings import Column, GivenMetric, Question, Value
from mle_star_data.spellings import nearest, of_column, parse

CORPUS = Path(__file__).parents[3] / "crates/mle-star-cli/tests/corpus"
PRICE = [Column("price", "numbers", 100, has_fractions=True)]


# ---------------------------------------------------------------- the corpus


@dataclass
class Case:
    """An input of the corpus, in the form that `crates/mle-star-cli/tests/it/corpus/case.rs` describes."""

    files: dict[str, str] = field(default_factory=dict)
    options: str = "data"
    right: list[tuple[str, str]] = field(default_factory=list)


def case(name: str) -> Case:
    found = Case()
    for section in (CORPUS / f"{name}.input").read_text("utf-8").split("\n--- ")[1:]:
        head, _, body = section.partition("\n")
        match head.split():
            case ["like", other]:
                found.files = case(other).files
            case ["write", old, new, *_]:
                found.files[new] = found.files.pop(old)
            case ["in", file]:
                for line in body.splitlines():
                    old, _, new = line.partition(" => ")
                    found.files[file] = found.files[file].replace(old, new)
            case ["options"]:
                found.options = body.strip()
            case ["right"]:
                found.right = [(key, text) for key, _, text in (line.partition(": ") for line in body.splitlines())]
            case [file, "none"]:
                found.files.pop(file, None)
            case [file, rows, *_] if ".." in rows:
                found.files[file] = "\n".join(table(body.splitlines(), rows))
            case [file, *_]:
                found.files[file] = body
    return found


def table(lines: list[str], rows: str) -> Iterator[str]:
    first, last = (int(number) for number in rows.split(".."))
    yield lines[0]
    for row in range(first, last):
        pattern = lines[1 + row % (len(lines) - 1)]
        yield re.sub(r"\{n([^}]*)\}", partial(_term, row), pattern)


def _term(row: int, term: re.Match[str]) -> str:
    return computed(term[1], row)


def computed(term: str, value: int) -> str:
    term, _, digits = term.partition(":")
    for operator, number in re.findall(r"([-+*/%])(\d+)", term):
        other = int(number)
        value = {"+": value + other, "-": value - other, "*": value * other, "/": value // other, "%": value % other}[
            operator
        ]
    return f"{value:0{digits or 0}d}"


def column(name: str, values: list[str]) -> Column:
    values = [value for value in values if value not in ("", "NA")]
    labels = tuple(sorted(set(values), key=values.count, reverse=True))
    numbers = [float(value) for value in values if re.fullmatch(r"-?\d+(?:\.\d+)?", value)]
    has_fractions = any(not number.is_integer() for number in numbers)
    kind: Literal["numbers", "classes", "digits", "sets"] = "classes"
    if numbers and len(numbers) == len(values):
        kind = "numbers" if has_fractions or len(labels) > 30 else "digits"
    elif any(" " in label for label in labels):
        kind = "sets"
    below = sum(number <= -1 for number in numbers)
    return Column(name, kind, len(labels), labels[:20], numbers.count(0.0), below, has_fractions)


def target_of(found: Case) -> list[Column]:
    rows = list(csv.reader(found.files.get("train.csv", "").splitlines()))
    test = next(csv.reader(found.files.get("test.csv", "").splitlines()), [])
    if not rows:
        return []
    named = re.findall(r"--target (\S+)", found.options) or [name for name in rows[0] if name not in test]
    named = [text.split(", ") for key, text in found.right if key == "target"][0:1] or [named]
    columns = [column(name, [row[rows[0].index(name)] for row in rows[1:]]) for name in named[0] if name in rows[0]]
    return columns


def told_of(found: Case) -> GivenMetric:
    options = dict(re.findall(r"--([a-z-]+) (\"[^\"]+\"|\S+)", found.options))
    metric = options.get("metric", "").strip('"') or None
    direction = options.get("direction")
    assert direction in (None, "minimize", "maximize")
    return GivenMetric(
        metric=metric,
        direction=direction,
        has_weights="weight-column" in options,
    )


def given_class(found: Case) -> str | None:
    said = re.search(r"--positive-class (\S+)", found.options)
    return said and said[1]


def words(found: Value | Question) -> str:
    if isinstance(found, Value):
        return f"value='{found.value}'"
    return " ".join([found.seen, found.option, *(f"{one.value}: {one.means}" for one in found.readings)])


#: Inputs that are asked about, though what is right is one reading.
ASKED = {"metric-in-code": "f1_score(y_true, y_pred"}
NAMES = sorted(path.stem for path in CORPUS.glob("*.input"))
ABOUT = ("metric", "positive")
OPTIONS = ("--metric", "--positive-class", "--direction", "MAPE", "RMSLE", "weighted")


def is_about(found: Case) -> bool:
    return any(key in ABOUT or (key == "refused" and any(one in text for one in OPTIONS)) for key, text in found.right)


@pytest.mark.parametrize("name", [name for name in NAMES if is_about(case(name))])
def test_an_input_of_the_corpus_is_read_right(name: str) -> None:
    found = case(name)
    text = next((text for file, text in found.files.items() if file.startswith("description")), "")
    target, told = target_of(found), told_of(found)
    metric = read_metric(text, told, target)
    refused = [text for key, text in found.right if key == "refused"]
    if name in ASKED:
        assert isinstance(metric, Question)
        assert ASKED[name] in metric.seen
        return
    if "--positive-class" not in refused:
        assert isinstance(metric, Question) == bool(refused), metric
    if isinstance(metric, Question):
        assert [one for one in refused if one.lower() not in words(metric).lower()] == []
        return
    for expected in (text for key, text in found.right if key == "metric"):
        assert told.metric or f"{metric.value} {metric.direction}" == expected
    labels = target[0].labels if target else ()
    if len(labels) != 2:
        return
    sample = (found.files.get("sample_submission.csv") or "").partition("\n")[0].split(",")
    own_name = sample[1] if len(sample) == 2 else None
    if own_name == target[0].name and all(label.lstrip("-").isdigit() for label in labels):
        own_name = None
    positive = positive_class(text, (labels[0], labels[1]), own_name, given_class(found), chose=metric.is_chosen)
    for expected in (text for key, text in found.right if key == "positive"):
        assert isinstance(positive, Value), positive
        assert positive.value == expected
    if "--positive-class" in refused:
        assert isinstance(positive, Question)
        assert [one for one in refused if one not in words(positive)] == []


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("Your forecasts will be graded with the average absolute error, MAE for short.", "?"),
        ("Entries are ranked by the median of the absolute errors.", "?"),
        ("We rate every upload using Cohen's kappa with linear weights.", "?"),
        ("The leaderboard shows 1 - MAPE.", "?"),
        ("The quality measure is R², so a perfect forecast gets 1.", "R2"),
        ("The score is the RMSE, computed after negative predictions are set to zero.", "?"),
        ("Submissions are judged on the F1 of the rare class only.", "?"),
        ("Ranking: ROC AUC averaged over the five regions.", "?"),
        ("Winner is who gets the highest accuracy on the hidden rows.", "accuracy"),
        ("The RMSE is calculated on log10(price) and decides the ranking.", "?"),
        ("Evaluation uses balanced accuracy (the mean recall of the classes).", "?"),
        (
            "Predictions are compared with the truth by the Spearman rank correlation coefficient; values "
            "range from -1 to 1.",
            "Spearman correlation",
        ),
        ("MAE, but errors above 100 are counted as 100, is the score.", "?"),
        ("Teams are scored with log loss, base 2.", "?"),
        ("The official score is the MSE divided by the variance of the target.", "?"),
        ("Submissions are evaluated by the AUC of the precision-recall curve.", "?"),
        ("Accuracy counts twice as much as F1 in the final mark.", "?"),
        ("Performance is measured as MCC at a threshold of 0.3.", "?"),
        ("The metric: mean squared error of the standardised targets.", "?"),
        ("Submissions are scored by MAE. Days with snow are left out.", "?"),
        ("# Scoring\nRMSE\n\n# Rules\nOne entry a day.", "RMSE"),
        ("Your mark depends on accuracy. For storms, a miss costs five times as much as a false alarm.", "?"),
        ("Die Einsendungen werden nach dem mittleren absoluten Fehler (MAE) bewertet.", "MAE"),
        ("We look at the area under the ROC curve of each hospital; the worst hospital is your score.", "?"),
        ("Submissions are evaluated by the RMSE between the predicted and the actual change in price.", "RMSE"),
        ("Submissions are evaluated by RMSE. Errors on the last ten rows are doubled.", "?"),
        ("The metric is accuracy at the level of patients.", "?"),
        ("Ranking is by the AUC after removing the easiest tenth of the pairs.", "?"),
        ("Submissions are scored by log loss with predictions rounded to two decimals.", "log loss"),
        ("We use MSE in log space for the ranking.", "?"),
        ("The final score is computed from RMSE as exp(-RMSE).", "?"),
        ("The score is 2*AUC-1.", "?"),
        ("F1 at the best threshold decides.", "?"),
        ("Only rows with rain count; the metric is MAE.", "?"),
        ("Entries are ranked by mean rank of RMSE and MAE.", "?"),
        ("The score is the larger of MAE and RMSE.", "?"),
        ("Metric: accuracy (3 tries).", "?"),
        ("Quality is judged by R2 adjusted for the number of features.", "?"),
        ("The evaluation metric is the RMSE (in units of the standard deviation).", "?"),
        ("Your error is the MAE between cumulative sums, and it decides.", "?"),
        ("Submissions are scored by RMSE between the predicted and true returns, demeaned by date.", "?"),
        ("Submissions are evaluated by the RMSE between forecasts and truth at the end of the month.", "?"),
        ("We rank by the MAE. Every tenth row is a control row and does not count.", "?"),
        ("For the leaderboard the RMSE is taken over all stores first, then summed.", "?"),
        ("The leaderboard is sorted by MAPE in percent, rounded to 3 decimals; smaller is better.", "MAPE"),
        ("Submissions are scored with Spearman's \u03c1.", "?"),
        ("Scoring is done by multiclass log loss as in scikit-learn.", "log loss"),
        ("We rank entries by root-mean-square error in euros.", "RMSE"),
        ("The evaluation metric is ROC AUC (higher is better, 0.5 is chance).", "ROC-AUC"),
        ("Metric | AUC-ROC", "ROC-AUC"),
        ("Submissions are evaluated on the area under the ROC curve.", "ROC-AUC"),
        ("Metric: macro F1-score", "macro F1"),
        ("We evaluate the RMSE.\nR2 is nice.\nSubmissions are evaluated by MAE.", "?"),
        ("Submissions are evaluated on the column-wise root mean squared logarithmic error.", "RMSLE"),
        ("## Evaluation Metric\n\nthe *quadratic weighted kappa*, which", "quadratic weighted kappa"),
        ("Entries are evaluated on the mean column-wise ROC AUC", "mean column-wise ROC-AUC"),
        ("<h2>Evaluation</h2><p>Entries are scored by <b>RMSE</b>.</p>", "RMSE"),
        ("**Evaluation**\n\nThe mean absolute\npercentage error\ncounts.", "MAPE"),
        ("| Metric | RMSE |\n|---|---|\n| Target | price |", "RMSE"),
        ("Metrica: RMSE", "RMSE"),
        ("Your score is the percentage of rows that you predict correctly.", "?"),
        ("# Evaluation\n~~RMSE~~ MAE is the metric.", "MAE"),
        ("Submissions are scored by mean average precision at 3 (MAP@3). Name up to three.", "MAP@3"),
        ("Evaluated by MAP@K with K = 7.", "MAP@7"),
        ("Submissions are evaluated by top-5 accuracy.", "top-5 accuracy"),
        ("The score is the MAE of the logarithms.", "?"),
        ("Scored by the linear weighted kappa", "?"),
        ("Submissions are scored by the weighted RMSE.", "?"),
        ("Submissions are scored by the partial AUC up to an FPR of 0.1.", "?"),
        ("# Evaluation\n$$\\text{RMSE} = \\sqrt{\\frac{1}{n}\\sum_i (y_i - p_i)^2}$$", "RMSE"),
        ("Submissions are scored by the pinball loss at the 0.9 quantile.", "pinball loss 0.9"),
        ("Submissions are scored by the pinball loss.", "?"),
        ("Forecasts are compared by the energy score.", "?"),
        ("Scored by RMSE divided by the range.", "?"),
        ("The score is the F1. It is macro-averaged F1.", "?"),
        ("Scored by the RMSE of each store, then averaged.", "?"),
        ("The score is one minus the accuracy.", "?"),
        ("The score is 100*(1-RMSE).", "?"),
        ("# Evaluation\nThe RMSE is only computed for items of today.", "?"),
        ("Scored by MAE: `mean(|p - a|)`, weighted by sales.", "?"),
        ("Scored by MAE: `1/n * sum(abs(y_i - y_hat_i))`.", "MAE"),
        ("Scored by MAE: `mean(w * |p - a|)`.", "?"),
        ("Scored by RMSE, `np.sqrt(np.mean((y - p)**2))`.", "RMSE"),
        ("Scored by SMAPE: `100 / n * sum(|p - a| / ((|p| + |a|) / 2))`.", "SMAPE"),
        ("Scored by the RMSE of `price (EUR/m2)`.", "RMSE"),
        (
            "# CommonLit Readability Prize\n\nBuild it with good accuracy.\n\n## Overview\nSubmissions are "
            "scored on RMSE.",
            "?",
        ),
        ("Scored by RMSE.\n\n# Evaluation of the baseline\nIt is evaluated by accuracy.", "RMSE"),
        ("High accuracy.\n\n# Evaluation\n**See the baseline.**\n\nSubmissions are scored by RMSE.", "RMSE"),
        ("Not by accuracy but by F1 are entries ranked. The metric is F1.", "?"),
        ("We use macro F1 instead of accuracy.", "?"),
        ("Submissions are ranked by AUC. Ties are broken by log loss.", "ROC-AUC"),
        ("Last year, submissions were scored by accuracy. This year submissions are scored by macro F1.", "macro F1"),
        ("The paper of Ng et al. reports accuracy. We score by MAE.", "MAE"),
        ("Submissions are scored by RMSE. Our baseline has an accuracy of 0.9.", "RMSE"),
        ("Submissions are scored by AUC since accuracy is misleading for rare classes.", "?"),
        ("Accuracy used to be the metric. Submissions are scored by F1.", "F1"),
        ("Submissions are not scored by accuracy, log loss or F1, but by MCC.", "?"),
        ("Submissions are evaluated using the Foo-Bar significance.", "?"),
        ("The evaluation metric is the profit in euros.", "?"),
        ("Submissions are evaluated on the Weighted Root Mean Squared Scaled Error (RMSSE).", "?"),
        ("Submissions are evaluated on the test set.", "?"),
        ("Submissions are scored with the square root of the mean of (log(p + 1) - log(a + 1))^2.", "?"),
        ("Submissions are scored by the square root of the mean of (log(p) - log(a))^2.", "?"),
        ("Predict the price.\n\n## References\n\nThe RMSE of prices: a study.", "?"),
        ("Predict the price.\n\nReferences:\n- Willmott, C. J. (2005). Advantages of the MAE. Climate Research.", "?"),
        ("Predict the price.\nHanley JA, McNeil BJ. The area under the ROC curve. Radiology 1982;143:29-36.", "?"),
        ("Scored by RMSE.\n\n# Bibliography\n\nThe metric is MAE.", "RMSE"),
        ("The MAE and the RMSE are interesting.\nR2 too.", "?"),
        ("Submissions are scored by accuracy and macro F1.", "?"),
        (
            "## How we score\nWe take the RMSE over all shops.\nEvery shop has the same weight.",
            "?",
        ),
        (
            "Score: R2 of the sum per month.",
            "?",
        ),
        (
            "# Evaluation\n\n- Metric: MAE\n- Unit: minutes\n- Lower is better",
            "MAE",
        ),
        (
            "# Evaluation\n\n- Metric: MAE\n- Rows with `flag` = 1 are ignored",
            "?",
        ),
        (
            "The evaluation metric is accuracy, where near misses get half a point.",
            "?",
        ),
        (
            "The evaluation metric is log loss on the calibrated probabilities.",
            "?",
        ),
        (
            "Evaluation is done with the F1-score for the class `fraud`.",
            "F1",
        ),
        (
            "You are ranked by Matthews correlation coefficient (MCC).",
            "MCC",
        ),
        (
            "We evaluate with RMSE after taking logs of both sides.",
            "?",
        ),
        (
            "Solutions are ranked by AUC, ties by log loss.",
            "?",
        ),
        (
            "The final ranking uses the 90th percentile of the absolute error.",
            "?",
        ),
        (
            "The metric is MAE / mean(y).",
            "?",
        ),
        (
            "The metric is nRMSE.",
            "?",
        ),
        (
            "The competition uses RMSE x 100 as score.",
            "?",
        ),
        (
            "The competition metric is RMSE^2.",
            "?",
        ),
        (
            "The score is sqrt(MAE).",
            "?",
        ),
        (
            "The score is the root of MAE.",
            "?",
        ),
        (
            "Submissions are scored by the accuracy over the top 100 rows by confidence.",
            "?",
        ),
        (
            "Submissions are scored by the mean of RMSE on set A and RMSE on set B.",
            "?",
        ),
        (
            "Submissions are evaluated using RMSE on the first 30% of the test data.",
            "?",
        ),
        (
            "Submissions are evaluated using RMSE. The public leaderboard is calculated with 30% of the test data.",
            "RMSE",
        ),
        (
            "Your model will be judged by the expected RMSE under noise in x.",
            "?",
        ),
        (
            "Submissions are scored by RMSE for `price` and accuracy for `kind`.",
            "?",
        ),
        (
            "Submissions are scored by quadratic weighted kappa (QWK), which lies between -1 and 1; higher is better.",
            "quadratic weighted kappa",
        ),
        (
            "Evaluation metric: Area Under the Receiver Operating Characteristic Curve (ROC AUC)",
            "ROC-AUC",
        ),
        (
            "Models are evaluated with mean absolute percentage error (MAPE, in %).",
            "MAPE",
        ),
        (
            "Submissions are scored on multi-class logarithmic loss. Probabilities are rescaled to sum to one.",
            "log loss",
        ),
        (
            "We look for the lowest MAE.",
            "?",
        ),
        (
            "Goal: minimize RMSE.",
            "RMSE",
        ),
        (
            "Please maximise the AUC while keeping the false positive rate low.",
            "ROC-AUC",
        ),
        (
            "Submissions are evaluated on the RMSE of the differences between consecutive values.",
            "?",
        ),
        (
            "Judging: 50% accuracy, 50% report.",
            "?",
        ),
        (
            "The metric is accuracy. A wrong answer costs a quarter point.",
            "?",
        ),
        (
            "The metric is the RMSE on the scale of log1p.",
            "?",
        ),
        (
            "Scored by MSE (i.e. RMSE squared).",
            "?",
        ),
        (
            "<p>Submissions are evaluated on <i>balanced</i> accuracy.</p>",
            "balanced accuracy",
        ),
        (
            "Submissions are evaluated on balanced\naccuracy.",
            "balanced accuracy",
        ),
        (
            "Submissions are scored by accuracy on an unbalanced test set, so balanced accuracy is only shown.",
            "?",
        ),
        (
            "Der Score ist der RMSE, gewichtet nach Umsatz.",
            "?",
        ),
        (
            "Le score est la RMSE pond\u00e9r\u00e9e.",
            "?",
        ),
        (
            "La m\u00e9trica es el RMSE ponderado por ventas.",
            "?",
        ),
        (
            "\u8bc4\u4f30\u6307\u6807\u4e3a RMSE\u3002",
            "?",
        ),
        (
            "Evaluation: see metric.py (RMSE).",
            "RMSE",
        ),
        (
            "Submissions are evaluated by MAE of the quantile forecasts at 0.1, 0.5 and 0.9.",
            "?",
        ),
        (
            "Submissions are scored by AUC (partial, FPR<0.2).",
            "?",
        ),
        (
            "Submissions are scored by F1 (beta=2).",
            "?",
        ),
        (
            "Submissions are scored by the H-measure.",
            "?",
        ),
        (
            "The score is the share of rows within 10% of the truth.",
            "?",
        ),
        (
            "Submissions are ranked by RMSE on the reconciled hierarchy.",
            "?",
        ),
        (
            "The evaluation metric is MAE. It is computed on the original scale although the target is "
            "given in thousands.",
            "MAE",
        ),
        (
            "The evaluation metric is MAE. We compute it station by station and then take the plain mean.",
            "?",
        ),
        (
            "Scored by accuracy once ambiguous rows have been removed.",
            "?",
        ),
        (
            "# Evaluation\nAUC, higher is better.",
            "ROC-AUC",
        ),
        (
            "Your predictions will be evaluated using the F1 score with beta 0.5.",
            "?",
        ),
        (
            "The score of a submission is its R\u00b2, floored at zero.",
            "?",
        ),
        (
            "Predictions are evaluated using the log loss. We clip probabilities at 0.01.",
            "log loss",
        ),
        (
            "The metric used is MAPE with a tolerance of 5 percent.",
            "?",
        ),
        (
            "The metric used is the MAE on demand, the MAE on price being secondary.",
            "?",
        ),
        (
            "Participants are ranked on RMSE; missing rows are filled with zero.",
            "RMSE",
        ),
        (
            "Ranking by accuracy, in the balanced sense.",
            "?",
        ),
        (
            "Evaluation criterion: MSE of cumulative returns",
            "?",
        ),
        (
            "Submissions are evaluated with ROC AUC, one-vs-one.",
            "?",
        ),
        (
            "Submissions are evaluated with Gini = 2*AUC - 1.",
            "?",
        ),
        (
            "The winning solution has the smallest RMSE among the five folds.",
            "?",
        ),
        (
            "Submissions are scored using root mean square error (RMSE).",
            "RMSE",
        ),
        (
            "We score with sklearn's f1_score, average='weighted'.",
            "?",
        ),
        (
            "Submissions are evaluated by RMSE, as is usual for prices.",
            "RMSE",
        ),
        (
            "The evaluation metric is the RMSE on a log scale.",
            "?",
        ),
        # Of the field inputs.
        (
            "# Sales\n\n## Evaluation\nThe score is the root mean squared logarithmic error (RMSLE): the "
            "square root of the mean of `(log(1 + p) - log(1 + a))^2`.",
            "RMSLE",
        ),
        (
            "# Rents\n\n## Evaluation\nThe score is the root mean squared error (RMSE) between the "
            "logarithm of the predicted rent and the logarithm of the real one. Cheap and dear flats count alike.",
            "RMSLE",
        ),
        (
            "Submissions are scored by mean average precision at 3 (MAP@3). Name up to three trees for each "
            "plot, the likeliest first, with blanks between them.",
            "MAP@3",
        ),
        ("## Evaluation\nScored by RMSE; the rows of 2024 count twice.", "?"),
        ("## Evaluation\nScored by RMSE.\n\nRows of 2024 count twice.", "?"),
    ],
)
def test_a_sentence_names_its_metric_or_is_asked(text: str, metric: str) -> None:
    read = read_metric(text, GivenMetric(), [])
    assert ("?" if isinstance(read, Question) else read.value) == metric, read
    if isinstance(read, Question):
        assert read.option == "--metric"
        assert read.readings
    else:
        assert read.sentence in read.reason
        assert read.direction


@pytest.mark.parametrize(
    ("labels", "text", "positive"),
    [
        (
            "default repaid",
            "Each credit is repaid or ends in default. Predict the probability that a credit ends in default.",
            "default",
        ),
        ("default repaid", "Predict the probability that a credit is not repaid.", "default"),
        ("default repaid", "Predict the probability of default.", "default"),
        ("default repaid", "Submit 1 if the credit defaulted and 0 if it was repaid.", "?"),
        ("default repaid", "The positive class is `repaid`.", "repaid"),
        ("default repaid", "Higher values mean default.", "default"),
        ("default repaid", "Predict whether a credit ends in default.", "default"),
        ("default repaid", "Predict whether a credit is repaid or ends in default.", "?"),
        ("default repaid", "Predict the risk of default. The positive class is repaid.", "repaid"),
        ("default repaid", "Give the probability of default. The chance of being repaid counts.", "?"),
        ("default repaid", "# Baseline\nIt predicts the probability of default.", "?"),
        ("default repaid", "Predict the probability of no default.", "repaid"),
        ("bad good", "Predict the probability that a good customer turns bad.", "?"),
        ("BAD GOOD", "Submit one probability for each client: BAD counts as 1 and GOOD as 0.", "BAD"),
        ("BAD GOOD", "Submit one probability for each client: GOOD counts as 0 and BAD as 1.", "?"),
        ("BAD GOOD", "Each client is BAD (0) or GOOD (1).", "?"),
        ("BAD GOOD", "Use a BAD or GOOD client as a one.", "?"),
        ("fraud legit", "Fold 1 is legit data from 2019. Predict the probability that a payment is fraud.", "fraud"),
        ("no yes", "Submit the probability of no for each client.", "no"),
        ("no yes", "Submit the probability of no rain.", "yes"),
        ("no yes", "The answer is yes (1) or no (0).", "yes"),
        ("1 2", "A flat is let (1) or not (2). Predict the probability that status is 1.", "1"),
        ("1 2", "The score is the F1 of class 1.", "1"),
        ("1 2", "The positive class is 2.", "2"),
        ("1 2", "Class 1 is the positive class.", "1"),
        ("1 2", "Predict the probability of a let flat (status = 1).", "1"),
        ("1 2", "Predict the probability that `status` is not 1.", "2"),
        ("1 2", "Predict whether status is 1 or 2.", "2"),
        ("1 2", "Predict whether status is 1 (let) or 2 (not let).", "2"),
        ("0 1", "Submit the probability of `ok`, between 0 and 1.", "1"),
        ("0 1", "Submit a probability between 0 and 1. A sure case is 1.", "1"),
        ("0 1", "Predict the class (0 or 1) and its probability.", "1"),
        ("-1 1", "Predict the probability that y is -1.", "-1"),
        ("0.0 1.0", "Predict P(y = 0).", "0.0"),
        ("0 1", "Predict the probability that `ok` is 0.", "0"),
        ("Attrited Existing", "How likely is it that a customer attrites?", "Attrited"),
        (
            "alive dead",
            "Predict survival of each patient.",
            "?",
        ),
        (
            "alive dead",
            "Estimate the risk that the patient is dead after a year.",
            "dead",
        ),
        (
            "alive dead",
            "The column holds P(alive).",
            "alive",
        ),
        (
            "spam ham",
            "We want the likelihood of a mail being ham rather than spam.",
            "?",
        ),
        (
            "pass fail",
            "Predict the probability that a student does not fail.",
            "pass",
        ),
        (
            "pass fail",
            "A student who fails gets 0. Submit the chance of passing the exam.",
            "pass",
        ),
        (
            "1 2",
            "Submit the probability that class is 2, between 0 and 1.",
            "2",
        ),
        (
            "0 1",
            "Submit a probability; 1 means sure.",
            "1",
        ),
        (
            "member non-member",
            "Predict the probability that someone is a member.",
            "member",
        ),
        (
            "A B",
            "Submit the probability of A.",
            "A",
        ),
        (
            "high low",
            "Higher scores mean low risk.",
            "low",
        ),
        ("churned stayed", "Nothing.", "?"),
    ],
)
def test_a_sentence_says_whose_probability_is_asked_or_it_is_asked(labels: str, text: str, positive: str) -> None:
    one, other = labels.split()
    for pair in ((one, other), (other, one)):
        read = positive_class(text, pair, None, None, chose=False)
        assert (read.value if isinstance(read, Value) else "?") == positive, read


def test_the_positive_class_is_given_or_in_the_name_of_the_sample_or_chosen() -> None:
    def read(labels: tuple[str, str], name: str | None = None, given: str | None = None, chose: bool = False) -> str:
        found = positive_class("", labels, name, given, chose)
        return found.value if isinstance(found, Value) else words(found)

    assert read(("stayed", "churned"), "p_churned") == "churned"
    assert read(("1", "2"), "prob_1") == "1"
    assert read(("b", "a"), chose=True) == "b"
    assert read(("b", "a"), given="A") == "a"
    assert read((">50K", "<=50K"), given=">50K") == ">50K"
    assert '"c" is no label' in read(("b", "a"), given="c")
    assert read(("True", "False")) == "True"


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("Forecasts are compared by the energy score.", None),
        ("Forecasts are compared by the energy score. Smaller values are better.", "minimize"),
        ("# Evaluation\nThe highest score wins.", "maximize"),
        ("The metric is the expected cost of maintenance. The lowest cost wins.", "minimize"),
        ("The energy score is to be minimised.", "minimize"),
        ("Your task is to maximize the energy score.", "maximize"),
        ("Submissions are ranked by the energy score in ascending order.", "minimize"),
        ("Lower is not better for the energy score.", None),
        ("# Data\nQuality: higher is better.\n\nOther columns are numbers.", None),
        ("# Evaluation\nLower is better. In the second round, higher is better.", "both"),
        ("We minimise costs of the plant. Forecasts are compared by the energy score.", None),
        ("# Evaluation\nForecasts are compared by the energy score. The winner gets a large prize.", None),
        ("# Evaluation\nForecasts are compared by the energy score. Models should be as small as possible.", None),
    ],
)
def test_a_sentence_says_which_scores_win(text: str, direction: str | None) -> None:
    said = direction_said(text, "energy score")
    assert ("both" if len(said) > 1 else next(iter(said), None)) == direction, said
    read = read_metric(text, GivenMetric(metric="energy score"), PRICE)
    assert isinstance(read, Question) == (direction in (None, "both"))


def test_a_column_is_named_as_what_is_predicted() -> None:
    columns = ["id", "yield", "depth", "SalePrice", "y"]
    rows = {
        "Predict the `yield` of each well.": "yield",
        "Predict the yield based on depth.": "yield",
        "Based on depth, predict what the well gives.": None,
        "Predict yield. Predict depth.": None,
        "The target is the sale price.": "SalePrice",
        "Predict `y`.": None,
        "# Baseline\nWe predict depth.": None,
    }
    read = {text: target_named(text, columns) for text in rows}
    assert {text: found and found.value for text, found in read.items()} == rows


# ---------------------------------------------------------------- names, and targets


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("F1-score", "F1"),
        ("f1_macro", "macro F1"),
        ("PR-AUC", "average precision"),
        ("R²", "R2"),
        ("Mean Columnwise Root Mean Squared Error (MCRMSE)", "MCRMSE"),
        ("mean absolute error (RMSE)", None),
        ("mean squared logarithmic error", None),
        ("weighted word error rate", None),
        ("accuracy@5", "top-5 accuracy"),
        ("top-1 accuracy", "accuracy"),
        ("quantile loss (q=.025)", "pinball loss 0.025"),
        ("quantile loss at the 90th percentile", "pinball loss 0.9"),
        ("pinball loss averaged over 0.1, 0.9", None),
        ("mean average precision at 3 and 5", None),
        ("Mean Winkler Interval Score (90% prediction intervals)", "interval score 0.9"),
        ("weighted kappa", "quadratic weighted kappa"),
        ("MAP", ""),
        ("Winkler score", ""),
    ],
)
def test_a_name_is_read_in_any_usual_spelling(name: str, metric: str | None) -> None:
    named = parse(name)
    assert (named and named.name) == metric
    assert named is None or bool(named.name) != bool(named.lacks)


def test_every_metric_is_read_by_its_own_name() -> None:
    from mle_star_data.metrics import TABLE, named

    names = [one.name for one in TABLE] + ["MAP@3", "top-5 accuracy", "pinball loss 0.9", "interval score 0.95"]
    assert [found and found.name for found in map(parse, names)] == names
    assert all(named(name) for name in names)


def given(name: str, **told: object) -> str:
    return words(read_metric("", GivenMetric(metric=name, **told), PRICE))  # type: ignore[arg-type]


def test_what_is_given_is_taken_or_asked_about() -> None:
    assert "did you mean RMSE?" in given("RSME")
    assert "--direction" in given("RSME")
    assert "did you mean" not in given("energy score")
    assert "energy score" in given("energy score", direction="minimize")
    assert "contradict" in given("RMSE", direction="maximize")
    assert "needs a weight" in given("weighted MAE")
    assert "value='MAE'" in given("weighted MAE", has_weights=True)
    assert "does not say the number of guesses" in given("MAP")
    assert nearest("acuracy") == "accuracy"


def test_nothing_speaks_of_scores() -> None:
    def chosen(*columns: Column, text: str = "Predict it.") -> str:
        read = read_metric(text, GivenMetric(), columns)
        return read.value if isinstance(read, Value) and read.is_chosen and "--metric" in read.reason else "?"

    numbers, classes = PRICE[0], Column("kind", "classes", 3, ("a", "b", "c"))
    assert chosen(numbers) == "RMSE"
    assert chosen(numbers, numbers) == "MCRMSE"
    assert chosen(Column("ill", "digits", 2, ("0", "1"))) == "ROC-AUC"
    assert chosen(classes) == "log loss"
    assert chosen(numbers, classes) == chosen() == chosen(numbers, text="See the leaderboard.") == "?"


@pytest.mark.parametrize(
    ("metric", "column", "seen"),
    [
        ("MAPE", Column("sold", "numbers", 90, zeros=72), "72 rows have one"),
        ("RMSLE", Column("profit", "numbers", 90, below=1), "1 row has one"),
        ("accuracy", PRICE[0], "100 different numbers"),
        ("RMSE", Column("kind", "classes", 3, ("oak", "elm", "ash")), '"oak", "elm", "ash"'),
        ("accuracy", Column("tags", "sets", 9, ("wet cold", "dry")), "several labels"),
        ("RMSE", PRICE[0], ""),
        ("accuracy", Column("stars", "digits", 5, ("1", "2")), ""),
        ("RMSE", Column("stars", "digits", 5, ("1", "2")), ""),
        ("sample-averaged F1", Column("tags", "sets", 9, ("wet cold", "dry")), ""),
    ],
)
def test_a_metric_that_the_target_cannot_have_is_asked_about(metric: str, column: Column, seen: str) -> None:
    read = read_metric(f"Submissions are scored by {metric}.", GivenMetric(), [column])
    assert isinstance(read, Question) == bool(seen)
    assert seen in words(read)
    assert not seen or column.name in words(read)


# ---------------------------------------------------------------- MLE-bench

#: The built-in metric that a competition's grader computes, from its `grade.py`; of other competitions there is none.
GRADERS = {
    "ROC-AUC": """
        aerial-cactus-identification
        detecting-insults-in-social-commentary
        histopathologic-cancer-detection
        invasive-species-monitoring
        mlsp-2013-birds
        random-acts-of-pizza
        rsna-miccai-brain-tumor-radiogenomic-classification
        seti-breakthrough-listen
        siim-isic-melanoma-classification
        tabular-playground-series-may-2022
        the-icml-2013-whale-challenge-right-whale-redux""",
    "quadratic weighted kappa": """
        aptos2019-blindness-detection
        learning-agency-lab-automated-essay-scoring-2""",
    "accuracy": """
        cassava-leaf-disease-classification
        cdiscount-image-classification-challenge
        iwildcam-2020-fgvc7
        ml2021spring-hw2
        movie-review-sentiment-analysis-kernels-only
        paddy-disease-classification
        spaceship-titanic
        tabular-playground-series-dec-2021
        tensorflow-speech-recognition-challenge
        text-normalization-challenge-english-language
        text-normalization-challenge-russian-language""",
    "RMSE": """
        denoising-dirty-documents
        new-york-city-taxi-fare-prediction
        petfinder-pawpularity-score""",
    "log loss": """
        dog-breed-identification
        dogs-vs-cats-redux-kernels-edition
        leaf-classification
        lmsys-chatbot-arena
        spooky-author-identification
        statoil-iceberg-classifier-challenge""",
    "micro F1 of sets": """
        facebook-recruiting-iii-keyword-extraction
        imet-2020-fgvc7
        plant-pathology-2021-fgvc8""",
    "Spearman": """
        google-quest-challenge""",
    "MAP@12": """
        h-and-m-personalized-fashion-recommendations""",
    "macro F1": """
        herbarium-2020-fgvc7
        herbarium-2021-fgvc8
        herbarium-2022-fgvc9
        iwildcam-2019-fgvc6""",
    "MAP@5": """
        hotel-id-2021-fgvc8
        whale-categorization-playground""",
    "mean column-wise ROC-AUC": """
        jigsaw-toxic-comment-classification-challenge
        plant-pathology-2020-fgvc7
        playground-series-s3e18
        ranzcr-clip-catheter-line-classification""",
    "MCC": """
        nfl-player-contact-detection""",
    "RMSLE": """
        nomad2018-predict-transparent-conductors""",
    "micro F1": """
        plant-seedlings-classification""",
    "MAE": """
        predict-volcanic-eruptions-ingv-oe""",
    "MCRMSE": """
        stanford-covid-vaccine""",
    "Pearson": """
        us-patent-phrase-to-phrase-matching""",
}


@pytest.mark.skipif("MLE_STAR_TEST_MLEBENCH" not in os.environ, reason="needs a checkout of openai/mle-bench")
def test_no_competition_of_mle_bench_is_misread() -> None:
    folder = Path(os.environ["MLE_STAR_TEST_MLEBENCH"]) / "mlebench/competitions"
    right = {name: metric for metric, names in GRADERS.items() for name in names.split()}
    texts = {one.parent.name: one.read_text("utf-8") for one in folder.glob("*/description.md")}
    read = {name: read_metric(text, GivenMetric(), []) for name, text in texts.items()}
    taken = {name: of_column(one.value) for name, one in read.items() if isinstance(one, Value)}
    same = {name: of_column(named.name) for name in texts if (named := parse(right.get(name, "")))}
    assert set(right) <= set(texts)
    assert {name: metric for name, metric in taken.items() if same.get(name) != metric} == {}
    assert len(taken) >= 40
    rows = [f"| {name} | {right.get(name, 'another one')} | {taken.get(name, 'asked')} |" for name in sorted(texts)]
    counts = {"texts": len(texts), "taken": len(taken), "asked": len(texts) - len(taken)}
    page = PAGE.format(rows="\n".join(rows), **counts)
    if os.environ.get("INSTA_UPDATE") == "always":
        DOCS.write_text(page, encoding="utf-8")
    assert DOCS.read_text(encoding="utf-8") == page


DOCS = Path(__file__).parents[3] / "docs/mle-bench-metrics.md"
PAGE = """# Metrics of MLE-bench's descriptions

The description of each of the {texts} competitions of [openai/mle-bench](https://github.com/openai/mle-bench) is read
as `mle-star init` reads it. {taken} are taken, and each is what the competition's grader computes; {asked} are asked,
and `--metric` or `--metric-file` decides. None is read wrong. A test writes this page.

| competition | the grader computes | read as |
|---|---|---|
{rows}
"""
