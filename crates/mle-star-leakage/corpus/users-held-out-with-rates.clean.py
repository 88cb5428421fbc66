import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
df = pd.read_csv('train.csv')
u = df['user'].unique()
np.random.shuffle(u)
hold = set(u[:100])
mask = df['user'].isin(hold)
tr, va = (df[~mask], df[mask])
f = ['a', 'b']
rates = {}
for k, g in tr.groupby('city'):
    rates[k] = g['y'].mean()
tr = tr.assign(a=tr['city'].map(rates))
va = va.assign(a=va['city'].map(rates))
m = LogisticRegression().fit(tr[f], tr['y'])
print('Final Validation Performance:', accuracy_score(va['y'], m.predict(va[f])))
