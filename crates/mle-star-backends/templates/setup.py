# === Setup ===
import os

import numpy as np
import pandas as pd

SEED = 42
THREADS = int(os.environ.get("OMP_NUM_THREADS") or os.cpu_count() or 1)
