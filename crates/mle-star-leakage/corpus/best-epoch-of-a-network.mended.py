import numpy as np
import pandas as pd
import torch
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from torch import nn

df = pd.read_csv("power.csv")
X = df.drop(columns=["power"]).values.astype("float32")
y = df["power"].values.astype("float32")
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
model = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
best = float("inf")
for epoch in range(300):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.l1_loss(model(torch.tensor(X_tr)).squeeze(), torch.tensor(y_tr))
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        mae = mean_absolute_error(y_va, model(torch.tensor(X_va)).squeeze().numpy())
    best = mae
print("Final Validation Performance:", best)
