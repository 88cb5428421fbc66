import numpy as np
from joblib import Memory, Parallel, delayed

big = np.ones((2000, 1000))  # large enough to be shared through a file
sums = Parallel(n_jobs=-1)(delayed(np.sum)(big) for _ in range(8))
cached = Memory("cache", verbose=0).cache(np.mean)
assert cached(big) == cached(big) == 1
score = sum(sums) / 8 / big.size
print("Final Validation Performance:", score)
