import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
df = pd.read_csv('train.csv')
import polars as pl
d = pl.read_csv('train.csv').with_columns(fold=pl.int_range(pl.len()) % 5)
s = []
for k in range(5):
    tr, va = (d.filter(pl.col('fold') != k), d.filter(pl.col('fold') == k))
    f = [c for c in d.columns if c not in ('price', 'fold')]
    m = Ridge().fit(tr.select(f).to_numpy(), tr['price'].to_numpy())
    s.append(mean_squared_error(va['price'].to_numpy(), m.predict(va.select(f).to_numpy())))
print('Final Validation Performance:', np.mean(s))
