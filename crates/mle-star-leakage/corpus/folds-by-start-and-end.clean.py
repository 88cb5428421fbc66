import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv('train.csv')
X = df.drop(columns='price').to_numpy()
y = df['price'].to_numpy()
idx = np.random.permutation(len(y))
fold = len(y) // 5
s = []
for start in range(0, len(y), fold):
    va = idx[start:start + fold]
    tr = np.concatenate([idx[:start], idx[start + fold:]])
    m = Ridge().fit(X[tr], y[tr])
    s.append(mean_squared_error(y[va], m.predict(X[va])))
print('Final Validation Performance:', np.mean(s))
