"""Prepares and grades a competition with the code of an MLE-bench checkout, on made-up data.

bench.py CHECKOUT prepare DATA COMPETITION
bench.py CHECKOUT grade DATA COMPETITION SUBMISSION   prints the report and whether the submission is valid, as JSON
bench.py CHECKOUT agent AGENTS ID                     prints how MLE-bench starts an agent, as JSON

The data have the files and columns that a competition's `prepare` expects from Kaggle. MLE-bench itself makes the split,
the public folder and the answers, and it computes the score.
"""

import dataclasses
import importlib
import json
import random
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

ROWS = 600
WORDS = {
    "EAP": "raven shadow melancholy chamber tomb midnight perverse heart beating wall".split(),
    "HPL": "cyclopean eldritch abyss cosmic nameless city tentacle madness elder star".split(),
    "MWS": "creature misery affection winter father ice ambition benevolent exile lake".split(),
}
COMMON = "the of and a was in that with upon from my i it as to had not which but this".split()


def zipped(archive: Path, member: str, text: str) -> None:
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(member, text)


def spooky(raw: Path) -> None:
    """Sentences of three authors, who prefer different words."""
    draw = random.Random(1)
    rows = ["id,text,author"]
    for row in range(ROWS):
        author = draw.choice(list(WORDS))
        words = [draw.choice(WORDS[author] if draw.random() < 0.12 else COMMON) for _ in range(20)]
        rows.append(f'id{row:05},"{" ".join(words)}.",{author}')
    zipped(raw / "train.zip", "train.csv", "\n".join(rows) + "\n")


def nomad(raw: Path) -> None:
    """Crystals: two numbers that follow from the composition, and a geometry file for each."""
    draw = random.Random(2)
    names = ["id", "spacegroup", "number_of_total_atoms"]
    names += [f"percent_atom_{atom}" for atom in ("al", "ga", "in")]
    names += [f"lattice_vector_{axis}_ang" for axis in (1, 2, 3)]
    names += [f"lattice_angle_{angle}_degree" for angle in ("alpha", "beta", "gamma")]
    rows = [",".join([*names, "formation_energy_ev_natom", "bandgap_energy_ev"])]
    with zipfile.ZipFile(raw / "train.zip", "w") as geometries:
        for row in range(1, ROWS + 1):
            parts = [draw.random() for _ in range(3)]
            al, ga, indium = (part / sum(parts) for part in parts)
            vectors = [draw.uniform(5, 25) for _ in range(3)]
            energy = 0.1 + 0.2 * ga * indium + 0.002 * vectors[0] + draw.gauss(0, 0.005)
            gap = 1.0 + 3.0 * al + 1.5 * ga + draw.gauss(0, 0.1)
            cells = [row, draw.choice([12, 33, 167, 194, 206, 227]), draw.choice([10, 20, 40, 80])]
            cells += [round(value, 4) for value in (al, ga, indium, *vectors)]
            cells += [round(draw.uniform(60, 120), 3) for _ in range(3)]
            cells += [round(max(energy, 0.0), 4), round(max(gap, 0.0), 4)]
            rows.append(",".join(str(cell) for cell in cells))
            geometries.writestr(f"train/{row}/geometry.xyz", "#\nlattice_vector 9.9 0 0\natom 0 0 0 Al\n")
    zipped(raw / "train.csv.zip", "train.csv", "\n".join(rows) + "\n")
    # Kaggle's own test set, which MLE-bench unpacks and does not use.
    zipped(raw / "test.zip", "test/1/geometry.xyz", "#\n")
    zipped(raw / "test.csv.zip", "test.csv", ",".join(names) + "\n")


MAKERS: dict[str, Callable[[Path], None]] = {
    "spooky-author-identification": spooky,
    "nomad2018-predict-transparent-conductors": nomad,
}


def prepare(data: Path, competition_id: str) -> None:
    """As `mlebench prepare` after the download."""
    registry = importlib.import_module("mlebench.registry").registry.set_data_dir(data)
    competition = registry.get_competition(competition_id)
    for folder in (competition.raw_dir, competition.public_dir, competition.private_dir):
        folder.mkdir(parents=True)
    MAKERS[competition_id](competition.raw_dir)
    competition.prepare_fn(
        raw=competition.raw_dir, public=competition.public_dir, private=competition.private_dir
    )
    (competition.public_dir / "description.md").write_text(competition.description)


def grade(data: Path, competition_id: str, submission: Path) -> dict[str, object]:
    """As `mlebench grade-sample`. A checkout without its large files has no leaderboards: then it is made up."""
    graders = importlib.import_module("mlebench.grade")
    registry = importlib.import_module("mlebench.registry").registry.set_data_dir(data)
    competition = registry.get_competition(competition_id)
    if competition.leaderboard.read_text().startswith("version https://git-lfs"):
        leaderboard = data / "leaderboard.csv"
        leaderboard.write_text("score\n" + "\n".join(f"{place / 100}" for place in range(1, 100)) + "\n")
        competition = dataclasses.replace(competition, leaderboard=leaderboard)
    valid, message = graders.validate_submission(submission, competition)
    report = graders.grade_csv(submission, competition).to_dict()
    return {"valid": valid, "message": message, "report": report}


def agent(agents: Path, agent_id: str) -> dict[str, object]:
    """The start script, its arguments and its variables, as `agents/run.py` makes them."""
    registries = importlib.import_module("agents.registry")

    class Registry(registries.Registry):
        def get_agents_dir(self) -> Path:
            return agents

    found = Registry().get_agent(agent_id)
    assert found.kwargs_type == "argparse", found
    arguments = [part for key, value in found.kwargs.items() for part in (f"--{key}", str(value))]
    variables = {key: str(value) for key, value in found.env_vars.items()}
    return {"start": str(found.start), "arguments": arguments, "variables": variables}


def main() -> None:
    checkout, action, *rest = sys.argv[1:]
    sys.path.insert(0, checkout)
    match action, rest:
        case "prepare", [data, competition_id]:
            prepare(Path(data), competition_id)
        case "grade", [data, competition_id, submission]:
            print(json.dumps(grade(Path(data), competition_id, Path(submission)), default=str))
        case "agent", [agents, agent_id]:
            print(json.dumps(agent(Path(agents), agent_id)))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
