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
df['fold'] = np.arange(len(df)) % 5
oof = np.zeros(len(df))
for k in range(5):
    a, b = df[df['fold'] != k], df[df['fold'] == k]
    print(k, b['y'].mean(), df['y'][df['fold'] == k].std())
    means = a.groupby('a')['y'].mean()
    Xa, Xb = a[['b', 'c']].assign(m=a['a'].map(means)), b[['b', 'c']].assign(m=b['a'].map(means).fillna(a['y'].mean()))
    oof[df['fold'] == k] = Ridge().fit(Xa, a['y']).predict(Xb)
print('Final Validation Performance:', mean_squared_error(df['y'], oof))
