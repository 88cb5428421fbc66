import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
X = np.load("x.npy"); y = np.load("y.npy")
Xv = X[-500:]
yv = y[-500:]
Xt = X[:1000]
yt = y[:1000]
m = Ridge().fit(Xt, yt)
print(mean_absolute_error(yv, m.predict(Xv)))
