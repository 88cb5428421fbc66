#!/bin/bash
# Installs the libraries that MLE-bench's code for data and scores needs, in a Python environment of their own.
#
#     install.sh [FOLDER]        by default target/mle-bench
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-$here/../../../../target/mle-bench}
libraries=(pandas pyyaml py7zr tqdm diskcache tenacity appdirs scikit-learn pillow)

[ -x "$folder/bin/python3" ] || timeout 600 python3 -m venv "$folder"
timeout 600 "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check "${libraries[@]}"
