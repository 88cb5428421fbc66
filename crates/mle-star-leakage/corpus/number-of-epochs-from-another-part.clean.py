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
net = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
net.compile('adam', 'mse')
h = net.fit(tr[F], tr['y'], validation_data=(va[F], va['y']), epochs=99)
n = int(np.argmin(h.history['val_loss'])) + 1
net = keras.Sequential([keras.layers.Dense(8), keras.layers.Dense(1)])
net.compile('adam', 'mse')
net.fit(rest[F], rest['y'], epochs=n)
print('Final Validation Performance:', mean_squared_error(test['y'], net.predict(test[F])))
