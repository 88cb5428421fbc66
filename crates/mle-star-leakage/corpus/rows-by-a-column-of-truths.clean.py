import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
df = pd.read_csv('train.csv')
df['is_train'] = np.random.rand(len(df)) < 0.8
f = [c for c in df.columns if c not in ['y', 'is_train']]
tr, va = (df[df['is_train']], df[~df['is_train']])
m = LogisticRegression().fit(tr[f], tr['y'])
print('Final Validation Performance:', accuracy_score(va['y'], m.predict(va[f])))
