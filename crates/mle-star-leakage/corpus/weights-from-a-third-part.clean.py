import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
df = pd.read_csv('train.csv')
f = ['a', 'b']
tr, rest = train_test_split(df, random_state=0, test_size=0.4)
cal, va = train_test_split(rest, random_state=1, test_size=0.5)
ms = [Ridge().fit(tr[f], tr['price']), RandomForestRegressor().fit(tr[f], tr['price'])]
e = np.array([mean_squared_error(cal['price'], m.predict(cal[f])) for m in ms])
w = 1 / e / np.sum(1 / e)
p = sum((a * m.predict(va[f]) for a, m in zip(w, ms)))
print('Final Validation Performance:', mean_squared_error(va['price'], p))
