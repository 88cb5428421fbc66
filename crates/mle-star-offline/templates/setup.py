# === Setup ===
import os

import numpy as np
import pandas as pd
import scipy.linalg
from threadpoolctl import threadpool_limits

SEED = {{ p.seed }}
# The algebra of numpy and of scipy: its threads wait for each other, which takes longer than the work where a core is busy.
threadpool_limits(1, user_api="blas")
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
