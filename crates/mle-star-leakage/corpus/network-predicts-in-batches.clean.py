import pandas as pd
df = pd.read_csv('train.csv')
import torch
from torch import nn
X = torch.tensor(df.drop(columns='y').to_numpy()).float()
y = torch.tensor(df['y'].to_numpy()).float()
n = int(0.8 * len(y))
p = torch.randperm(len(y))
tr, va = (p[:n], p[n:])
net = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters())
lossf = nn.MSELoss()
for e in range(5):
    q = tr[torch.randperm(n)]
    for i in range(0, n, 64):
        b = q[i:i + 64]
        loss = lossf(net(X[b]).squeeze(1), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
out = []
with torch.no_grad():
    for i in range(0, len(va), 256):
        b = va[i:i + 256]
        out.append(net(X[b]).squeeze(1))
print('Final Validation Performance:', lossf(torch.cat(out), y[va]).item())
