import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge, LogisticRegression
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold, train_test_split
df = pd.read_csv('train.csv')

pairs, labels = [], []
for row in df.itertuples():
    pairs.append((row.left, row.right))
    labels.append(1)
    pairs.append((row.left, row.other))
    labels.append(0)
X = pd.DataFrame(pairs, columns=['l', 'r'])
a, b, ya, yb = train_test_split(X, labels, random_state=0)
m = LogisticRegression().fit(a, ya)
print('Final Validation Performance:', roc_auc_score(yb, m.predict(b)))
