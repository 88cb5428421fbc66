import numpy as np
import pandas as pd
import torch
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold
from torch import nn

df = pd.read_csv("concrete.csv")
X = torch.tensor(df.drop(columns=["strength"]).values, dtype=torch.float32)
y = torch.tensor(df["strength"].values, dtype=torch.float32)


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


errors = []
for trn, val in KFold(5, shuffle=True, random_state=0).split(X):
    net = Net(X.shape[1])
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(50):
        net.train()
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(X[trn]), y[trn])
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        predicted = net(X[val])
    errors.append(mean_squared_error(y[val].numpy(), predicted.numpy()) ** 0.5)
print(f"Final Validation Performance: {np.mean(errors):.4f}")
