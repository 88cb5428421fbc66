"""Tries the graders of MLE-bench as metric files.

graders.py CHECKOUT OUT PROGRAM PYTHON [NAME ...]

makes OUT/NAME with a small training table, test table and sample for each competition of CHECKOUT, a checkout of openai/mle-bench,
and runs PROGRAM on it with `--metric-file CHECKOUT/mlebench/competitions/NAME/grade.py`. PYTHON is an interpreter with
numpy, pandas, scikit-learn and what the graders import, `mlebench` included. OUT/graders.csv says what came out.

Columns are those of the sample in a competition's description, with values of its kind. Where the description shows no whole
sample, or the true values need more columns or another form, `SPECIAL` says which.
"""

import csv
import importlib.machinery
import random
import re
import subprocess
import sys
from pathlib import Path

ROWS, TEST_ROWS = 60, 10
WORDS = ["alpha", "beta", "gamma", "delta", "eps"]
CLASSES_OF_HMS = ["seizure_vote", "lpd_vote", "gpd_vote", "lrda_vote", "grda_vote", "other_vote"]
IDENTITIES = [
    "male", "female", "homosexual_gay_or_lesbian", "christian", "jewish", "muslim", "black", "white",
    "psychiatric_or_mental_illness",
]  # fmt: skip
CATHETERS = [
    "ETT - Abnormal", "ETT - Borderline", "ETT - Normal", "NGT - Abnormal", "NGT - Borderline",
    "NGT - Incompletely Imaged", "NGT - Normal", "CVC - Abnormal", "CVC - Borderline", "CVC - Normal",
    "Swan Ganz Catheter Present",
]  # fmt: skip
chance = random.Random(3)


def one_hot(columns):
    rows = [row if row < len(columns) else chance.randrange(len(columns)) for row in range(ROWS)]
    return {name: [int(row == at) for row in rows] for at, name in enumerate(columns)}


def binary(*columns):
    return {name: [row if row < 2 else chance.randint(0, 1) for row in range(ROWS)] for name in columns}


def numbers(low, high, *columns):
    return {name: [round(chance.uniform(low, high), 3) for _ in range(ROWS)] for name in columns}


def classes(count, *columns):
    return {name: [row if row < count else chance.randrange(count) for row in range(ROWS)] for name in columns}


def words(column, known=WORDS):
    return {column: [" ".join(chance.sample(known, chance.randint(1, 3))) for _ in range(ROWS)]}


def same(**cells):
    return {name: [cell] * ROWS for name, cell in cells.items()}


def listed(folder, module, name):
    return list(getattr(importlib.machinery.SourceFileLoader(name, str(folder / module)).load_module(), name))


def wide(columns, cell):
    return one_hot(columns), [cell or 1 / len(columns)] * len(columns)


# The ID, the predicted columns with true values, further columns of the training table, the cells of the sample.
SPECIAL = {
    "3d-object-detection-for-autonomous-vehicles": lambda _: (
        "Id", same(PredictionString="0.9 1.0 2.0 3.0 1.0 1.0 1.0 0.1 car"), {}, ["0.9 1 2 3 1 1 1 0.1 car"]),
    "AI4Code": lambda _: ("id", same(cell_order="a b c d"), {}, ["a b c d"]),
    "chaii-hindi-and-tamil-question-answering": lambda _: ("id", words("PredictionString"), {}, ["alpha beta"]),
    "champs-scalar-coupling": lambda _: (
        "id", numbers(0, 9, "scalar_coupling_constant"), {"type": ["1JHC", "2JHH"] * (ROWS // 2)}, ["0.0"]),
    "detecting-insults-in-social-commentary": lambda _: ("Comment", binary("Insult"), {}, ["0.5"]),
    "dog-breed-identification": lambda at: ("id", *with_cells(wide(listed(at, "dogs.py", "DOGS_LIST"), None))),
    "facebook-recruiting-iii-keyword-extraction": lambda _: ("Id", words("Tags"), {}, ["c++ javaScript"]),
    "freesound-audio-tagging-2019": lambda at: (
        "fname", *with_cells(wide(listed(at, "vocabulary.py", "CLASS_NAMES"), "0.5"))),
    "google-quest-challenge": lambda at: quest(listed(at, "classes.py", "CLASSES")),
    "google-research-identify-contrails-reduce-global-warming": lambda _: (
        "record_id", same(encoded_pixels="1 1 5 1"), same(height=10, width=10), ["1 1 5 1"]),
    "h-and-m-personalized-fashion-recommendations": lambda _: (
        "customer_id", words("prediction", ["070", "071", "072"]), {}, ["070 071"]),
    "hms-harmful-brain-activity-classification": lambda _: (
        "eeg_id", *with_cells(wide(CLASSES_OF_HMS, "0.166"))),
    "hotel-id-2021-fgvc8": lambda _: ("image", classes(7, "hotel_id"), {}, ["36363 53586"]),
    "hubmap-kidney-segmentation": lambda _: (
        "id", same(predicted="1 1 5 1"), same(encoding="1 1 5 1", width_pixels=10, height_pixels=10), ["1 1 5 1"]),
    "imet-2020-fgvc7": lambda _: ("id", words("attribute_ids", ["1", "2", "3", "4"]), {}, ["0 1 2"]),
    "inaturalist-2019-fgvc6": lambda _: ("id", classes(7, "predicted"), {}, ["71"]),
    "iwildcam-2019-fgvc6": lambda _: ("Id", classes(5, "Category"), {}, ["0"]),
    "iwildcam-2020-fgvc7": lambda _: ("Id", classes(5, "Category"), {}, ["0"]),
    "jigsaw-unintended-bias-in-toxicity-classification": lambda _: unintended_bias(),
    "kuzushiji-recognition": lambda _: ("image_id", same(labels="U+003F 1 1 10 10"), {}, ["U+003F 3 3"]),
    "leaf-classification": lambda at: ("id", *with_cells(wide(listed(at, "classes.py", "CLASSES"), None))),
    "lmsys-chatbot-arena": lambda _: (
        "id", *with_cells(wide(["winner_model_a", "winner_model_b", "winner_tie"], "0.33"))),
    "ml2021spring-hw2": lambda _: ("Id", classes(9, "ClassId"), {}, ["0"]),
    "multi-modal-gesture-recognition": lambda _: ("Id", words("Sequence", ["1", "2", "3", "4"]), {}, ["2 4 5"]),
    "osic-pulmonary-fibrosis-progression": lambda _: (
        "Patient_Week", numbers(2000, 3000, "FVC") | same(Confidence=100),
        {"Patient": [f"P{row // 6}" for row in range(ROWS)]}, ["2000", "100"]),
    "petfinder-pawpularity-score": lambda _: ("Id", numbers(1, 100, "Pawpularity"), {}, ["99.24"]),
    "plant-pathology-2020-fgvc7": lambda _: (
        "image_id", *with_cells(wide(["healthy", "multiple_diseases", "rust", "scab"], "0.25"))),
    "ranzcr-clip-catheter-line-classification": lambda _: (
        "StudyInstanceUID", binary(*CATHETERS), {}, ["0.5"] * len(CATHETERS)),
    "rsna-2022-cervical-spine-fracture-detection": lambda _: ("row_id", binary("fractured"), {}, ["0.5"]),
    "rsna-breast-cancer-detection": lambda _: ("prediction_id", binary("cancer"), {}, ["0.5"]),
    "siim-covid19-detection": lambda _: (
        "id", {"PredictionString": ["negative 1 0 0 1 1", "opacity 1 0 0 1 1"] * (ROWS // 2)}, {}, ["none 1 0 0 1 1"]),
    "smartphone-decimeter-2022": lambda _: (
        "tripId", numbers(1000, 2000, "UnixTimeMillis") | numbers(30, 40, "LatitudeDegrees", "LongitudeDegrees"), {},
        ["1", "30", "30"]),
    "stanford-covid-vaccine": lambda _: (
        "id_seqpos", numbers(0, 1, "reactivity", "deg_Mg_pH10", "deg_pH10", "deg_Mg_50C", "deg_50C"),
        {"keep": ["True", "False"] * (ROWS // 2)}, ["0.1"] * 5),
    "tgs-salt-identification-challenge": lambda _: ("id", same(rle_mask="1 5"), {}, ["1 1"]),
    "tweet-sentiment-extraction": lambda _: ("textID", words("selected_text"), {}, ["very good"]),
    "uw-madison-gi-tract-image-segmentation": lambda _: (
        "id", {"class": ["large_bowel", "small_bowel", "stomach"] * (ROWS // 3)} | same(predicted="1 1 5 1"),
        same(image_height=10, image_width=10), ["large_bowel", "1 1 5 1"]),
    "ventilator-pressure-prediction": lambda _: (
        "id", numbers(0, 30, "pressure"), {"u_out": [0, 1, 0] * (ROWS // 3)}, ["20"]),
    "vesuvius-challenge-ink-detection": lambda _: (
        "Id", same(Predicted="1 1 5 1"), same(width=10, height=10), ["1 1 5 1"]),
    "vinbigdata-chest-xray-abnormalities-detection": lambda _: (
        "image_id", same(PredictionString="14 1 0 0 1 1"),
        same(class_id=14, class_name="No finding", rad_id="R1", x_min=0, y_min=0, x_max=1, y_max=1), ["14 1 0 0 1 1"]),
}  # fmt: skip


def with_cells(columns_and_cells):
    columns, cells = columns_and_cells
    return columns, {}, cells


def quest(columns):
    return "qa_id", numbers(0, 1, *columns), {}, ["0.5"] * len(columns)


def unintended_bias():
    toxic = binary("target")["target"]
    return "id", {"prediction": toxic}, {"toxicity": toxic, "target": toxic} | binary(*IDENTITIES), ["0.0"]


def ids(name):
    """Row IDs; some graders read them."""
    parts = ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "patient_overall"]
    if name.startswith("rsna-2022"):
        return [f"s{row // 8}_{parts[row % 8]}" for row in range(ROWS // 8 * 8)]
    if name.startswith("uw-madison"):
        return [f"case{row // 6}_day1_slice_{row:04}" for row in range(ROWS)]
    return [f"r{row // 6}_{row}" for row in range(ROWS)]


def sample_in(description):
    """The header and the first row of the sample in a description; None without a whole one."""
    blocks = re.findall(r"```[a-z]*\n(.*?)```", description, re.S)
    blocks += re.findall(r"((?:^(?: {4}|\t).*\n)+)", description, re.M) + [description]
    for block in blocks:
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        for line, below in zip(lines, lines[1:]):
            if "," not in line or line.startswith(("#", "*", "-", "http")):
                continue
            header, row = ([cell.strip() for cell in next(csv.reader([text]))] for text in (line, below))
            is_header = all(re.fullmatch(r"[\w \-./']{1,60}", name) and name.count(" ") < 3 for name in header)
            if 2 <= len(header) <= 200 and is_header and len(row) == len(header):
                return header, row
    return None


def is_number(cell):
    return re.fullmatch(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?", cell) is not None


def likely(header, cells):
    """True values for predicted columns that hold cells like these."""
    if not all(is_number(cell) for cell in cells):
        if cells[0] in ("True", "False"):
            return {header[0]: [chance.choice(["True", "False"]) for _ in range(ROWS)]}
        pick = lambda cell: [cell if " " in cell or chance.random() < 0.3 else chance.choice(WORDS) for _ in range(ROWS)]
        return {name: pick(cell) for name, cell in zip(header, cells)}
    values = [float(cell) for cell in cells]
    are_shares = all(0 <= value <= 1 for value in values) and any("." in cell for cell in cells)
    if len(header) > 1 and abs(sum(values) - 1) < 0.05:
        return one_hot(header)
    if are_shares:
        return binary(*header)
    if len(header) > 1 or "." in cells[0]:
        return numbers(0, 1 if len(header) == 2 else 9, *header)
    return binary(*header) if cells[0] in "01" else classes(5, *header)


def spec(folder):
    if folder.name in SPECIAL:
        return SPECIAL[folder.name](folder)
    found = sample_in((folder / "description.md").read_text())
    if found is None:
        return None
    header, row = found
    return header[0], likely(header[1:], row[1:]), {}, row[1:]


def written(to, name, spec):
    """Writes the tables, and returns the names of the ID and of the first predicted column."""
    row_id, predicted, further, cells = spec
    to.mkdir(parents=True, exist_ok=True)
    names = ids(name)
    train = [[row_id, "x", *further, *predicted]]
    for at, row in enumerate(names):
        train.append([row, at % 7, *(further[column][at] for column in further), *(predicted[column][at] for column in predicted)])
    test = [[row_id, "x"]] + [[f"t{row}", row % 7] for row in range(TEST_ROWS)]
    sample = [[row_id, *predicted]] + [[f"t{row}", *cells] for row in range(TEST_ROWS)]
    for file, rows in (("train", train), ("test", test), ("sample_submission", sample)):
        with open(to / f"{file}.csv", "w", newline="") as table:
            csv.writer(table).writerows(rows)
    return row_id, next(iter(predicted))


def tried(folder, out, program, python):
    made = spec(folder)
    if made is None:
        return "the description has no sample"
    data = out / folder.name
    row_id, target = written(data, folder.name, made)
    # No agent answers: the run ends with its time. The file was tried before.
    command = [
        program, "run", data, "--metric-file", folder / "grade.py", "--direction", "maximize", "--target", target,
        "--id-column", row_id, "--agents", "files", "--set", f"agents_dir={out / 'calls'}", "--set", f"python={python}",
        "--time-limit", "1", "--runs-dir", out / "runs",
    ]  # fmt: skip
    said = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False).stderr
    lines = [line for line in said.splitlines() if line.startswith(("metric: ", "error: "))]
    return lines[0] if lines else said.strip()[-200:]


def main():
    checkout, out, program, python, *names = sys.argv[1:]
    folders = sorted(path.parent for path in Path(checkout, "mlebench", "competitions").glob("*/grade.py"))
    rows = []
    for folder in folders:
        if not names or folder.name in names:
            rows.append([folder.name, tried(folder, Path(out), program, python)])
            print(": ".join(rows[-1]), flush=True)
    with open(Path(out, "graders.csv"), "w", newline="") as table:
        csv.writer(table).writerows([["competition", "result"], *rows])
    print(f"{sum(result.startswith('metric: ') for _, result in rows)} of {len(rows)}")


if __name__ == "__main__":
    main()
