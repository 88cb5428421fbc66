import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from helpers import choose
df = pd.read_csv('train.csv')
mask = choose(df)
tr, va = (df[mask], df[~mask])
m = Ridge().fit(tr[['a']], tr['y'])
print('Final Validation Performance:', mean_squared_error(va['y'], m.predict(va[['a']])))
