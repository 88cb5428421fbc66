import copy

import numpy as np
import pandas as pd
import torch
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Frame(Dataset):
    def __init__(self, x, y=None):
        self.x = torch.tensor(x, dtype=torch.float32)
        self.y = None if y is None else torch.tensor(y, dtype=torch.float32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        if self.y is None:
            return self.x[i]
        return self.x[i], self.y[i]


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(128, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def train_epoch(model, loader, optimizer, criterion):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


@torch.no_grad()
def predict(model, loader):
    model.eval()
    out = []
    for batch in loader:
        x = batch[0] if isinstance(batch, (list, tuple)) else batch
        out.append(torch.sigmoid(model(x)).numpy())
    return np.concatenate(out)


train, test = pd.read_csv("train.csv"), pd.read_csv("test.csv")
X, y, X_test = train.drop(columns=["id", "y"]).values, train["y"].values, test.drop(columns=["id"]).values
oof, sub = np.zeros(len(X)), np.zeros(len(X_test))
for fold, (tr, va) in enumerate(StratifiedKFold(5, shuffle=True, random_state=42).split(X, y)):
    scaler = StandardScaler().fit(X[tr])
    a, b, t = scaler.transform(X[tr]), scaler.transform(X[va]), scaler.transform(X_test)
    loaders = [DataLoader(Frame(a, y[tr]), 256, shuffle=True), DataLoader(Frame(b, y[va]), 512), DataLoader(Frame(t), 512)]
    model = Net(a.shape[1])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    best, patience, state = 0.0, 0, None
    for epoch in range(50):
        loss = train_epoch(model, loaders[0], optimizer, nn.BCEWithLogitsLoss())
        auc = roc_auc_score(y[va], predict(model, loaders[1]))
        print(f"fold {fold} epoch {epoch} loss {loss:.4f} auc {auc:.4f}")
        if auc > best:
            best, patience, state = auc, 0, copy.deepcopy(model.state_dict())
        else:
            patience += 1
            if patience >= 5:
                break
    model.load_state_dict(state)
    oof[va] = predict(model, loaders[1])
    sub += predict(model, loaders[2]) / 5
print(f"Final Validation Performance: {roc_auc_score(y, oof):.5f}")
