#!/usr/bin/env bash
# `record.sh PROGRAM` runs the example with the offline agents, and keeps in flight-delays/ what views of the run read, with
# its score on the hidden answers and that of LightGBM. `cargo xtask record` starts it.
set -euo pipefail
program=$(realpath "$1")
recorded=$(realpath "$(dirname "$0")")
name=flight-delays

# Journal and result hold the path of the data, so it has a neutral one.
folder=/tmp/mle-star
rm -rf "$folder"
mkdir "$folder"
cp -r "$recorded/../$name" "$folder"
cd "$folder"
# Few rows and minutes: a small recording of a whole run.
"$program" run "$name" --run-id "$name" --runs-dir runs --agents offline --time-limit 360 \
    --set subsample_limit=1500 --set ensemble_rounds=1

# Scripts are in the journal; what they predicted is most of a run folder.
rm -rf "${recorded:?}/$name"
mkdir -p "$recorded/$name/final"
mkdir -p "$recorded/$name/holdout"
for file in config.json data.md facts.json journal.db result.json task.json final/{requirements.txt,solution.py,submission.csv} \
    holdout/{dependence,diagnostics}.json; do
    cp "runs/$name/$file" "$recorded/$name/$file"
done
python=$("$program" doctor --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["environment"]["path"])')
"$python" "$recorded/hidden_scores.py" "runs/$name" "$recorded/../$name" > "$recorded/$name/hidden.json"
