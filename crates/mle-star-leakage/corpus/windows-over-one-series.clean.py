import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv('train.csv')
df = df.sort_values('t')
v = df['value'].to_numpy()
X = np.array([v[i:i + 10] for i in range(len(v) - 10)])
y = v[10:]
n = int(len(y) * 0.8)
m = Ridge().fit(X[:n], y[:n])
print('Final Validation Performance:', mean_squared_error(y[n:], m.predict(X[n:])))
