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

t = lambda d: (torch.tensor(d[F].values, dtype=torch.float32), torch.tensor(d['y'].values, dtype=torch.float32))
(Xa, ya), (Xb, yb), (Xc, yc) = t(tr), t(va), t(test)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
best, state, wait = float('inf'), None, 0
epoch = 0
while epoch < 300:
    opt.zero_grad()
    nn.functional.mse_loss(net(Xa).squeeze(1), ya).backward()
    opt.step()
    with torch.no_grad():
        val = nn.functional.mse_loss(net(Xb).squeeze(1), yb).item()
    if val < best:
        best, state, wait = val, copy.deepcopy(net.state_dict()), 0
    else:
        wait += 1
    epoch += 1
net.load_state_dict(state)
with torch.no_grad():
    final = nn.functional.mse_loss(net(Xc).squeeze(1), yc).item()
print('Final Validation Performance:', final)
