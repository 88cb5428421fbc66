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
best, wait, n = 9e9, 0, 0
while wait < 3 and n < 50:
    m = RandomForestRegressor(n_estimators=10 * (n + 1)).fit(tr[F], tr['y'])
    e = err(m, va)
    if e < best:
        best, wait, keep = e, 0, m
    else:
        wait += 1
    n += 1
print('Final Validation Performance:', err(keep, test))
