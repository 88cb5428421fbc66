import copy
import numpy as np
import pandas as pd
import torch
from torch import nn
import xgboost as xgb
import lightgbm as lgb
from tensorflow import keras
from sklearn.ensemble import RandomForestRegressor, ExtraTreesRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split, KFold
df = pd.read_csv('./input/train.csv')
F = ['a', 'b', 'c']
rest, test = train_test_split(df, test_size=0.2, random_state=0)
tr, va = train_test_split(rest, test_size=0.25, random_state=0)
err = lambda m, d: mean_squared_error(d['y'], m.predict(d[F])) ** 0.5
ms = [Ridge().fit(tr[F], tr['y']), RandomForestRegressor().fit(tr[F], tr['y'])]
order = np.argsort([err(m, va) for m in ms])
w = np.zeros(2)
w[order] = [0.7, 0.3]
p = np.average([m.predict(test[F]) for m in ms], axis=0, weights=w)
print('Final Validation Performance:', mean_squared_error(test['y'], p))
