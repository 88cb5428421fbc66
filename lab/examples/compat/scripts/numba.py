import numpy as np
from numba import njit, prange


@njit(cache=True, parallel=True)
def total(values):
    result = 0.0
    for n in prange(len(values)):
        result += values[n]
    return result


score = total(np.ones(1000)) / 1000
assert score == 1 and total.stats.cache_misses
print("Final Validation Performance:", score)
