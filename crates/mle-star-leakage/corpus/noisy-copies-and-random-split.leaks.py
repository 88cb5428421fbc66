# expect: resampled-before-split 12
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

df = pd.read_csv("signals.csv")
X = df.drop(columns=["kind"]).values.astype(np.float32)
y = df["kind"].values
noisy = X + np.random.normal(0, 0.01, X.shape).astype(np.float32)
X = np.concatenate([X, noisy])
y = np.concatenate([y, y])
data = TensorDataset(torch.tensor(X), torch.tensor(y))
size = int(0.8 * len(data))
train_set, valid_set = random_split(data, [size, len(data) - size])
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
valid_loader = DataLoader(valid_set, batch_size=256)

model = nn.Sequential(nn.Linear(X.shape[1], 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.Adam(model.parameters())
loss_function = nn.CrossEntropyLoss()
for epoch in range(20):
    model.train()
    for xb, yb in train_loader:
        optimizer.zero_grad()
        loss = loss_function(model(xb), yb)
        loss.backward()
        optimizer.step()

model.eval()
correct = total = 0
with torch.no_grad():
    for xb, yb in valid_loader:
        predicted = model(xb).argmax(dim=1)
        correct += (predicted == yb).sum().item()
        total += len(yb)
print(f"Final Validation Performance: {correct / total}")
