import numpy as np
import pandas as pd
df = pd.read_csv('train.csv')
X = df.drop(columns='price').to_numpy()
y = df['price'].to_numpy()
idx = np.random.permutation(len(y))
n = int(0.8 * len(y))
tr, va = (idx[:n], idx[n:])
w = np.zeros(X.shape[1])
for e in range(10):
    np.random.shuffle(tr)
    for i in range(0, n, 32):
        b = tr[i:i + 32]
        g = X[b].T @ (X[b] @ w - y[b])
        w -= 0.01 * g
    if e % 5 == 0:
        print(np.mean((X[tr] @ w - y[tr]) ** 2))
print('Final Validation Performance:', np.mean((X[va] @ w - y[va]) ** 2))
