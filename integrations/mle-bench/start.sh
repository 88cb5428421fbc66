#!/bin/bash
# Runs mle-star on the competition of an MLE-bench container, as the user nonroot.
#
#     start.sh [--KEY VALUE]...      each KEY is a configuration key of mle-star, or metric, direction, target, id-column
#
# Variables: TIME_LIMIT_SECS (86400), COMPETITION_ID, and the folders SUBMISSION_DIR, LOGS_DIR, CODE_DIR and AGENT_DIR.
# MLE_STAR names the program, MLE_STAR_PYTHON the interpreter of the scripts, MLE_STAR_DATA the data (/home/data).
#
# The time limit has three stages: mle-star ends by itself, then it is interrupted, then it is killed. Whatever happens, the
# best submission so far is in SUBMISSION_DIR: it is copied while mle-star runs, and once more at the end.
set -uo pipefail

data=${MLE_STAR_DATA:-/home/data}
submissions=${SUBMISSION_DIR:-/home/submission}
logs=${LOGS_DIR:-/home/logs}
code=${CODE_DIR:-/home/code}
home=${AGENT_DIR:-/home/agent}
limit=${TIME_LIMIT_SECS:-86400}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# Seconds between copies of the best submission so far.
every=${MLE_STAR_COPY_SECS:-30}

say() { echo "start.sh: $*"; }

# The program: the one given, one beside this script, or the one on PATH.
program() {
    if [ -n "${MLE_STAR:-}" ]; then echo "$MLE_STAR"; return; fi
    if [ -x "$here/mle-star" ]; then echo "$here/mle-star"; return; fi
    command -v mle-star
}

# The interpreter of the scripts, if it has the libraries that scripts need; nothing otherwise.
interpreter() {
    local python=${MLE_STAR_PYTHON:-/opt/conda/envs/agent/bin/python}
    if "$python" -c 'import numpy, pandas, sklearn, scipy, lightgbm' 2>"$work/python.log"; then
        echo "$python"
    else
        say "$python lacks libraries: mle-star makes its own environment, which needs a package index" >&2
        tail -n 1 "$work/python.log" >&2
    fi
}

# Copies a file so that it is never there in part.
copy() {
    [ -s "$1" ] && ! cmp -s "$1" "$2" && cp "$1" "$2.part" && mv "$2.part" "$2"
}

# Copies the best submission so far and its script.
collect() {
    copy "$run/final/submission.csv" "$submissions/submission.csv"
    for file in solution.py requirements.txt; do
        copy "$run/final/$file" "$code/$file"
    done
}

collect_until_killed() {
    while sleep "$every"; do collect; done
}

collect_logs() {
    [ -s "$run/report.html" ] || "$mle_star" report bench --runs-dir "$work/runs" >/dev/null 2>&1
    for file in report.html result.json journal.db task.json config.json data.md \
        logs/events.jsonl logs/mle-star.log final/provisional.json; do
        copy "$run/$file" "$logs/$(basename "$file")"
    done
}

for folder in "$submissions" "$logs" "$code"; do
    mkdir -p "$folder" || exit 1
done
work=$(mktemp -d "$home/work.XXXXXX" 2>/dev/null || mktemp -d)
export HOME="$work/home" TMPDIR="$work/tmp"
mkdir -p "$HOME" "$TMPDIR" "$work/runs"
# The name of the run below.
run="$work/runs/bench"

mle_star=$(program)
if [ -z "$mle_star" ]; then
    say "mle-star is neither beside this script nor on PATH"
    exit 1
fi

options=()
while [ "$#" -ge 2 ]; do
    case $1 in
    --metric | --direction | --target | --id-column) options+=("$1" "$2") ;;
    --*) options+=(--set "${1#--}=$2") ;;
    *) say "$1 is not a key: give --KEY VALUE"; exit 2 ;;
    esac
    shift 2
done
if [ "$#" -ne 0 ]; then
    say "$1 has no value: give --KEY VALUE"
    exit 2
fi
python=$(interpreter)
[ -n "$python" ] && options+=(--set "python=$python")

printf 'competition_id: %s\ndata_dir: %s\n' "${COMPETITION_ID:-competition}" "$data" >"$work/task.yaml"

# What the program leaves unused: a twentieth of the time, between 15 s and 15 min.
reserve=$((limit / 20))
[ "$reserve" -ge 15 ] || reserve=15
[ "$reserve" -le 900 ] || reserve=900
left=$((limit - SECONDS))
if [ "$left" -le "$reserve" ]; then
    say "$limit s are too few: at least $((reserve + SECONDS + 1)) s are needed"
    exit 2
fi

collect_until_killed &
collector=$!
say "$("$mle_star" --version), at most $((left - reserve)) of $limit s"
timeout --signal=INT --kill-after=$((reserve / 3)) $((left - reserve / 2)) \
    "$mle_star" run "$work/task.yaml" --run-id bench --runs-dir "$work/runs" \
    --time-limit $((left - reserve)) "${options[@]}" 2>&1 | tee "$logs/mle-star.txt"
code_of_run=${PIPESTATUS[0]}
kill "$collector" 2>/dev/null
wait "$collector" 2>/dev/null

collect
collect_logs
if [ ! -s "$submissions/submission.csv" ]; then
    say "there is no submission: mle-star ended with $code_of_run before a script had made one"
    exit "$((code_of_run == 0 ? 1 : code_of_run))"
fi
say "submission: $(($(wc -l <"$submissions/submission.csv") - 1)) rows; mle-star ended with $code_of_run"
if [ -f /home/validate_submission.sh ]; then
    timeout 120 bash /home/validate_submission.sh "$submissions/submission.csv" 2>/dev/null \
        | tee "$logs/validation.json" || say "the submission was not validated: no answer from the server"
fi
exit 0
