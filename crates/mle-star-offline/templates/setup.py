# === Setup ===
import os

import numpy as np
import pandas as pd

SEED = {{ p.seed }}
{% if p.used_rows < 2000 %}
# More threads cost more than they save on a table of this size.
THREADS = 1
{% else %}
THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
{% endif %}
