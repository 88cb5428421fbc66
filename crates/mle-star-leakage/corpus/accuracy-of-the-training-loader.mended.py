import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

X = torch.tensor(np.load("x.npy"), dtype=torch.float32)
y = torch.tensor(np.load("y.npy"))
data = TensorDataset(X, y)
train_data, val_data = random_split(data, [8000, 2000])
train_loader = DataLoader(train_data, batch_size=64, shuffle=True)
val_loader = DataLoader(val_data, batch_size=64)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(10):
    model.train()
    correct, seen = 0, 0
    for xb, yb in train_loader:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
    model.eval()
    correct, seen = 0, 0
    with torch.no_grad():
        for xb, yb in val_loader:
            out = model(xb)
            correct += (out.argmax(1) == yb).sum().item()
            seen += yb.size(0)
    accuracy = correct / seen
    print(f"epoch {epoch}: {accuracy:.4f}")
print(f"Final Validation Performance: {accuracy:.4f}")
