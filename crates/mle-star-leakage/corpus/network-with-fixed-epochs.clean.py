import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from sklearn.model_selection import train_test_split
from torch import nn

df = pd.read_csv("train.csv")
a, b, c, d = train_test_split(df.drop(columns=["y"]).values, df["y"].values, test_size=0.2, random_state=0)
x_tr, x_va = torch.tensor(a).float(), torch.tensor(b).float()
y_tr, y_va = torch.tensor(c).long(), torch.tensor(d).long()
net = nn.Sequential(nn.Linear(a.shape[1], 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
history = []
for epoch in range(40):
    order = torch.randperm(len(x_tr))
    for start in range(0, len(x_tr), 128):
        rows = order[start:start + 128]
        loss = F.cross_entropy(net(x_tr[rows]), y_tr[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        train_acc = (net(x_tr).argmax(1) == y_tr).float().mean().item()
        valid_acc = (net(x_va).argmax(1) == y_va).float().mean().item()
    history.append((train_acc, valid_acc))
    print(epoch, "train", train_acc, "valid", valid_acc)
print("best epoch so far", max(history, key=lambda pair: pair[1]))
print(f"Final Validation Performance: {valid_acc}")
net.train()
for epoch in range(40):
    loss = F.cross_entropy(net(torch.cat([x_tr, x_va])), torch.cat([y_tr, y_va]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
