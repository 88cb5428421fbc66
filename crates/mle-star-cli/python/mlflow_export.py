"""Logs a finished run of mle-star to MLflow.

Reads one JSON object from stdin: where to log, the run, its scored scripts and its files. Prints one JSON object: what was logged,
or `error` with a `hint`. Addresses may hold passwords, so they come on stdin and are never printed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# How long one request may take, in seconds.
PATIENCE = 60
# What a store takes at once.
METRICS, PARAMS = 1000, 100
# The longest value of a parameter that every version of MLflow takes, in characters.
LONGEST = 500
RUN, STARTED, DIGEST, COMPLETE = "mle_star.run", "mle_star.started", "mle_star.digest", "mle_star.complete"
PARENT = "mlflow.parentRunId"

# The model, as MLflow loads it: a file beside its parts.
MODEL = '''"""Predicts with the fitted model of a run of mle-star."""

import contextlib
import importlib.util
import io
import json
import os
import tempfile

import pandas as pd
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel


class Model(PythonModel):
    def load_context(self, context):
        folder = context.artifacts["final"]
        spec = importlib.util.spec_from_file_location("mle_star_predict", os.path.join(folder, "predict.py"))
        self.script = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.script)
        with open(os.path.join(folder, "model.json"), encoding="utf-8") as file:
            self.id = json.load(file)["id"]

    def predict(self, context, model_input, params=None):
        rows = pd.DataFrame(model_input)
        if self.id is not None and self.id not in rows:
            rows = rows.assign(**{self.id: range(len(rows))})
        with tempfile.TemporaryDirectory() as folder:
            new, out = os.path.join(folder, "new.csv"), os.path.join(folder, "out.csv")
            rows.to_csv(new, index=False)
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    self.script.main(new, out)
            except SystemExit as end:
                raise ValueError(getattr(end, "message", "the model does not predict these rows")) from None
            return read(out)


def read(file):
    """The predictions. `None` and `NA` are labels, and what has digits after a leading zero stays a text."""
    frame = pd.read_csv(file, keep_default_na=False, na_values=[""], low_memory=False)
    written = pd.read_csv(file, dtype=str, keep_default_na=False)
    for name in frame:
        if written[name].str.match(r"[+-]?0\\d").any():
            frame[name] = written[name].where(written[name] != "")
    return frame


set_model(Model())
'''


class Refused(Exception):
    """What went wrong, in words, and what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


@contextlib.contextmanager
def request(what: str, seconds: int = PATIENCE) -> Iterator[None]:
    """Bounds the time of one request."""

    def late(number: int, frame: object) -> None:
        raise Refused(f"MLflow did not {what} within {seconds} s", "check that the server can be reached")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def named(values: dict[str, str]) -> list[tuple[str, str]]:
    """Parameters as stores take them: names of few characters, values that are not too long."""

    def name(text: str) -> str:
        return "".join(letter if letter.isalnum() or letter in "_-. /" else "_" for letter in text)[:250]

    def short(text: str) -> str:
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    return [(name(key), short(value)) for key, value in values.items()]


def fill(client: Any, run: str, given: dict[str, Any]) -> None:
    """Logs the parameters, scores and files of one run."""
    from mlflow.entities import Metric, Param

    params = [Param(key, value) for key, value in named(given["params"])]
    metrics = [Metric(one["name"], one["value"], one["at"], one["step"]) for one in given["metrics"]]
    for at in range(0, len(params), PARAMS):
        with request("take the parameters"):
            client.log_batch(run, params=params[at : at + PARAMS])
    for at in range(0, len(metrics), METRICS):
        with request("take the scores"):
            client.log_batch(run, metrics=metrics[at : at + METRICS])
    for file in given["files"]:
        # A megabyte a second, in the worst case.
        with request(f"take {Path(file).name}", PATIENCE + os.path.getsize(file) // 1_000_000):
            client.log_artifact(run, file)


def log_model(client: Any, run: str, final: Path) -> None:
    """Logs the fitted model as a pyfunc that calls its script."""
    import mlflow.pyfunc

    with tempfile.TemporaryDirectory() as work:
        parts, code, made = Path(work, "final"), Path(work, "model.py"), Path(work, "model")
        parts.mkdir()
        shutil.copytree(final / "model", parts / "model")
        for name in ("model.json", "predict.py"):
            shutil.copy(final / name, parts / name)
        code.write_text(MODEL, encoding="utf-8")
        requirements = str(final / "requirements.txt")
        mlflow.pyfunc.save_model(
            path=str(made), python_model=str(code), artifacts={"final": str(parts)}, pip_requirements=requirements
        )
        size = sum(file.stat().st_size for file in made.rglob("*") if file.is_file())
        with request("take the model", PATIENCE + size // 1_000_000):
            client.log_artifacts(run, str(made), "model")


def experiment(client: Any, name: str) -> str:
    """The ID of the experiment, which is made if there is none."""
    with request("answer"):
        found = client.get_experiment_by_name(name)
        if found is not None and found.lifecycle_stage == "deleted":
            raise Refused(f'the experiment "{name}" was deleted', 'restore it, or remove it for good: mlflow gc')
        return str(found.experiment_id if found is not None else client.create_experiment(name))


def begin(client: Any, where: str, given: dict[str, Any], tags: dict[str, str]) -> str:
    with request("begin a run"):
        run = client.create_run(where, start_time=given["start"], tags=tags, run_name=given["name"])
    return str(run.info.run_id)


def export(given: dict[str, Any]) -> dict[str, Any]:
    """Logs the run, unless it is there. What an earlier attempt left half done is removed first."""
    from mlflow import MlflowClient

    with request("answer"):
        client = MlflowClient(tracking_uri=given["uri"])
    name, run = given["experiment"], given["run"]
    where = experiment(client, name)
    identity = {RUN: given["id"], STARTED: given["started"], DIGEST: given["digest"]}
    wanted = f"tags.`{DIGEST}` = '{given['digest']}'"
    with request("search for the run"):
        found = client.search_runs([where], wanted, max_results=1000)
    for known in found:
        tags = known.data.tags
        if PARENT not in tags and tags.get(COMPLETE) == "true" and tags.get(RUN) == given["id"]:
            return {"logged": False, "experiment": name, "run": known.info.run_id}
    for known in found:
        if known.data.tags.get(RUN) == given["id"]:
            with request("remove what an earlier attempt left"):
                client.delete_run(known.info.run_id)
    parent = begin(client, where, run, {**run["tags"], **identity})
    fill(client, parent, run)
    for child in given["scripts"]:
        # Only the parent is the run.
        tags = {**child["tags"], DIGEST: given["digest"], RUN: given["id"], PARENT: parent}
        one = begin(client, where, child, tags)
        fill(client, one, child)
        with request("end a run"):
            client.set_terminated(one, status="FINISHED", end_time=child["end"])
    if given["model"] is not None:
        log_model(client, parent, Path(given["model"]))
    with request("end the run"):
        client.set_tag(parent, COMPLETE, "true")
        client.set_terminated(parent, status="FINISHED", end_time=run["end"])
    return {"logged": True, "experiment": name, "run": parent}


def without(secret: str, text: str) -> str:
    """The text without the address, which may hold a password."""
    rest = secret.split("://", 1)[-1]
    login = rest.rsplit("@", 1)[0] if "@" in rest else ""
    for hidden in (secret, login, *login.split(":", 1)[1:]):
        text = text.replace(hidden, "…") if len(hidden) > 3 else text
    return text


def main() -> None:
    given = json.load(sys.stdin.buffer)
    uri = given["uri"]
    if "://" not in uri or uri.startswith("file:"):
        # A folder was asked for.
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_TIMEOUT", str(PATIENCE // 2))
    os.environ.setdefault("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "1")
    try:
        with contextlib.redirect_stdout(sys.stderr):
            told = export(given)
    except Refused as refused:
        told = {"error": without(uri, refused.message), "hint": refused.hint}
    except Exception as error:
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        told = {"error": without(uri, f"MLflow failed: {first}"), "hint": "check the address that --mlflow names"}
    print(json.dumps(told))


if __name__ == "__main__":
    main()
