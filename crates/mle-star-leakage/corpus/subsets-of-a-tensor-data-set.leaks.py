# expect: same-rows 22
import numpy as np
import pandas as pd
import torch
from sklearn.model_selection import KFold
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

df = pd.read_csv("train.csv")
X = torch.tensor(df.drop(columns=["y"]).values).float()
y = torch.tensor(df["y"].values).float()
data = TensorDataset(X, y)
criterion = nn.MSELoss()
net = nn.Sequential(nn.Linear(X.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters())
errors = []
for trn, val in KFold(5, shuffle=True, random_state=0).split(df):
    for epoch in range(10):
        for xb, yb in DataLoader(Subset(data, trn), batch_size=64, shuffle=True):
            optimizer.zero_grad()
            loss = criterion(net(xb).squeeze(1), yb)
            loss.backward()
            optimizer.step()
    total = 0.0
    with torch.no_grad():
        for xb, yb in DataLoader(Subset(data, val), batch_size=256):
            total += criterion(net(xb).squeeze(1), yb).item() * len(xb)
    errors.append(total / len(val))
print(f"Final Validation Performance: {np.mean(errors)}")
