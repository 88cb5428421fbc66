# expect: scored-on-training-rows 16
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

X, y = torch.tensor(np.load("x.npy")), torch.tensor(np.load("y.npy"))
train_set, valid_set = random_split(TensorDataset(X, y), [900, 100])
model = nn.Linear(10, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(100):
    losses = []
    for xb, yb in DataLoader(train_set, batch_size=32, shuffle=True):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
print("Final Validation Performance:", np.mean(losses))
