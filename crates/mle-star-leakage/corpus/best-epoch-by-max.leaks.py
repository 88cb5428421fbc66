# expect: chosen-on-scored-rows 37
import torch, numpy as np, pandas as pd
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from sklearn.model_selection import train_test_split
from sklearn.metrics import roc_auc_score
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y").values, df["y"].values, test_size=0.2, random_state=0)
tr = DataLoader(TensorDataset(torch.FloatTensor(a), torch.FloatTensor(c)), batch_size=32, shuffle=True)
va = DataLoader(TensorDataset(torch.FloatTensor(b), torch.FloatTensor(d)), batch_size=32)
class MLP(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n, 32), nn.ReLU(), nn.Linear(32, 1))
    def forward(self, x):
        return self.net(x).squeeze(-1)
def evaluate(model, loader):
    model.eval()
    ps, ts = [], []
    with torch.no_grad():
        for x, y in loader:
            ps.append(torch.sigmoid(model(x)).cpu().numpy())
            ts.append(y.numpy())
    return roc_auc_score(np.concatenate(ts), np.concatenate(ps))
model = MLP(a.shape[1])
opt = torch.optim.AdamW(model.parameters())
lossf = nn.BCEWithLogitsLoss()
best_auc = 0
for epoch in range(30):
    model.train()
    for x, y in tr:
        opt.zero_grad()
        l = lossf(model(x), y)
        l.backward()
        opt.step()
    auc = evaluate(model, va)
    best_auc = max(best_auc, auc)
print(f"Final Validation Performance: {best_auc:.4f}")
