import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge, LogisticRegression
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold, train_test_split
df = pd.read_csv('train.csv')

X, y = df[['a', 'b']], df['price']
a, b, ya, yb = train_test_split(X, y, random_state=0)
best, best_n = 1e9, None
for n in [100, 300, 500]:
    m = RandomForestRegressor(n_estimators=n).fit(a, ya)
    e = mean_squared_error(yb, m.predict(b))
    if e < best:
        best, best_n = e, n
print('Final Validation Performance:', best)
