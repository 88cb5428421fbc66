import pandas as pd
import torch
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, frame, target):
        self.x = torch.tensor(frame.drop(columns=[target]).values, dtype=torch.float32)
        self.y = torch.tensor(frame[target].values)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def train_one(model, loader, optimizer, loss_function):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = loss_function(model(x), y)
        loss.backward()
        optimizer.step()


def evaluate(model, loader):
    model.eval()
    truth, predicted = [], []
    with torch.no_grad():
        for x, y in loader:
            predicted.extend(model(x).argmax(1).cpu().numpy())
            truth.extend(y.numpy())
    return f1_score(truth, predicted, average="macro")


frame = pd.read_csv("frames.csv")
train, valid = train_test_split(frame, test_size=0.2, random_state=0)
train_loader = DataLoader(Rows(train, "kind"), batch_size=32, shuffle=True)
valid_loader = DataLoader(Rows(valid, "kind"), batch_size=32)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(15):
    train_one(model, train_loader, optimizer, nn.CrossEntropyLoss())
print("Final Validation Performance:", evaluate(model, valid_loader))
