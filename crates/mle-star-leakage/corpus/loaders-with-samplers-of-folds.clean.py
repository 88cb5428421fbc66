import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge, LogisticRegression
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold, train_test_split
df = pd.read_csv('train.csv')

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, SubsetRandomSampler
X, y = torch.tensor(df[['a', 'b']].values).float(), torch.tensor(df['price'].values).float()
ds = TensorDataset(X, y)
for tr, va in KFold(5).split(X):
    lt = DataLoader(ds, batch_size=32, sampler=SubsetRandomSampler(tr))
    lv = DataLoader(ds, batch_size=32, sampler=SubsetRandomSampler(va))
    model = nn.Linear(2, 1)
    opt = torch.optim.Adam(model.parameters())
    loss_fn = nn.MSELoss()
    for xb, yb in lt:
        opt.zero_grad(); loss = loss_fn(model(xb).squeeze(), yb); loss.backward(); opt.step()
    model.eval()
    losses = []
    with torch.no_grad():
        for xb, yb in lv:
            losses.append(loss_fn(model(xb).squeeze(), yb).item())
    print('validation loss', np.mean(losses))
