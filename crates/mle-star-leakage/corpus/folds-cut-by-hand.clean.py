import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv('train.csv')
X = df.drop(columns='price').to_numpy()
y = df['price'].to_numpy()
idx = np.random.permutation(len(y))
k = 5
size = len(y) // k
s = []
for i in range(k):
    va = idx[i * size:(i + 1) * size]
    tr = np.concatenate([idx[:i * size], idx[(i + 1) * size:]])
    m = Ridge().fit(X[tr], y[tr])
    s.append(mean_squared_error(y[va], m.predict(X[va])))
print('Final Validation Performance:', np.mean(s))
