import numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error

X = np.load("x.npy")
y = np.load("y.npy")
X_train, y_train = X[:800], y[:800]
X_test, y_test = X[800:], y[800:]
model = Ridge().fit(X_train, y_train)
print("Final Validation Performance:", mean_squared_error(y_test, model.predict(X_test)))
