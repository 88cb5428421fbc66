# === Setup ===
import os

import numpy as np
import pandas as pd

SEED = {{ p.seed }}
# Where there is an empty folder for it, the fitted model is kept.
KEEPS_MODEL = os.path.isdir("./final/model") and not os.listdir("./final/model")
{% if p.subsample %}
# All scripts validate on the same rows, so that they can be combined.
SAMPLE_SEED = {{ p.sample_seed }}
{% endif %}
{% if p.used_rows < 2000 %}
# More threads cost more than they save on a table of this size.
THREADS = 1
{% else %}
THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
{% endif %}
