"""Types that modules of the data plane share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Numbers = NDArray[np.float64]
Keys = NDArray[np.uint64]
"""A hash of what names each row."""
Answer = dict[str, Any]
"""What is written as JSON."""
Facts = dict[str, Any]
"""What is known of a column; see `column_kinds.describe`."""
