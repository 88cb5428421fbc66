import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv('train.csv')
s = []
for g in df['group'].unique():
    tr, va = (df[df['group'] != g], df[df['group'] == g])
    mu = tr['price'].mean()
    base = va['price'].mean()
    tr = tr.assign(dev=tr['a'] - mu)
    va = va.assign(dev=va['a'] - mu)
    m = Ridge().fit(tr[['dev']], tr['price'])
    s.append(mean_squared_error(va['price'], m.predict(va[['dev']])))
print('Final Validation Performance:', np.mean(s))
