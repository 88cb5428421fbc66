import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv('train.csv')
df = df.sort_values('date')
g = df.groupby('store')['sales']
df['l1'] = g.shift(1)
df['r7'] = g.shift(1).rolling(7).mean()
df['e'] = g.transform(lambda s: s.shift(1).expanding().mean())
df['d'] = g.shift(1) - g.shift(2)
df = df.dropna()
tr, va = (df[df.date < '2020'], df[df.date >= '2020'])
c = ['l1', 'r7', 'e', 'd']
m = Ridge().fit(tr[c], tr['sales'])
print('Final Validation Performance:', mean_squared_error(va['sales'], m.predict(va[c])))
