import pandas as pd
import torch
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from tensorflow import keras

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]).values, df["y"].values
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
net = keras.Sequential([keras.layers.Dense(1)])
net.compile(metrics=["accuracy"])
history = net.fit(X_tr, y_tr, validation_split=0.1)
print("train", history.history["accuracy"][-1])
loader = DataLoader(TensorDataset(torch.tensor(X_tr), torch.tensor(y_tr)))
model = nn.Linear(5, 2)
optimizer = torch.optim.Adam(model.parameters())
for epoch in range(3):
    hits = 0
    for xb, yb in loader:
        out = model(xb)
        loss = nn.functional.cross_entropy(out, yb)
        loss.backward()
        hits += (out.argmax(1) == yb).sum().item()
    print("train accuracy", hits / len(X_tr))
with torch.no_grad():
    p = model(torch.tensor(X_va)).argmax(1).numpy()
print("Final Validation Performance:", accuracy_score(y_va, p))
for xb, yb in DataLoader(TensorDataset(torch.tensor(X), torch.tensor(y))):
    loss = nn.functional.cross_entropy(model(xb), yb)
    loss.backward()
