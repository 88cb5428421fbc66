# expect: scored-on-training-rows 30
import torch, numpy as np
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split
class D(Dataset):
    def __init__(self, p):
        z = np.load(p)
        self.x = torch.from_numpy(z["x"]).float()
        self.y = torch.from_numpy(z["y"]).long()
    def __len__(self): return len(self.x)
    def __getitem__(self, i): return self.x[i], self.y[i]
ds = D("d.npz")
n = int(0.8 * len(ds))
tr, va = random_split(ds, [n, len(ds) - n])
trl, val = DataLoader(tr, 32, shuffle=True), DataLoader(va, 32)
dev = "cuda" if torch.cuda.is_available() else "cpu"
net = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 2)).to(dev)
crit = nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters())
def run_epoch(loader):
    hits, n = 0, 0
    for x, y in loader:
        x, y = x.to(dev), y.to(dev)
        opt.zero_grad()
        o = net(x)
        loss = crit(o, y)
        loss.backward()
        opt.step()
        _, pred = torch.max(o, 1)
        hits += (pred == y).sum().item()
        n += y.size(0)
    return hits / n
for e in range(10):
    acc = run_epoch(trl)
print(f"Final Validation Performance: {acc}")
