"""Prints what is in a store of MLflow, and what the model of the only whole run predicts, as JSON."""

import json
import sys

import mlflow
import pandas as pd
from mlflow import MlflowClient

uri, experiment, test = sys.argv[1:4]
mlflow.set_tracking_uri(uri)
client = MlflowClient()
where = client.get_experiment_by_name(experiment).experiment_id
if sys.argv[4:] == ["break"]:
    (run,) = client.search_runs([where], "tags.`mle_star.complete` = 'true'")
    client.delete_tag(run.info.run_id, "mle_star.complete")
runs = client.search_runs([where], max_results=1000)
parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
(parent,) = parents
id = parent.info.run_id
found = {
    "runs": len(runs),
    "status": parent.info.status,
    "tags": parent.data.tags,
    "params": parent.data.params,
    "metrics": parent.data.metrics,
    "steps": [point.step for point in client.get_metric_history(id, "best_score")],
    "files": sorted(file.path for file in client.list_artifacts(id)),
    "children": sorted(child.info.run_name for child in children),
    "of_parent": all(child.data.tags["mlflow.parentRunId"] == id for child in children),
    "files_of_children": sum(len(client.list_artifacts(child.info.run_id)) for child in children),
}
if "model" in found["files"]:
    model = mlflow.pyfunc.load_model(f"runs:/{id}/model")
    found["predicted"] = model.predict(pd.read_csv(test)).to_csv(index=False)
print(json.dumps(found))
