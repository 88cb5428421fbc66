import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    x = torch.randn(2000, 20)
    data = TensorDataset(x, (x[:, 0] > 0).long())
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
    best = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(3):
        for batch, labels in DataLoader(data, 64, shuffle=True, num_workers=2):
            best.zero_grad()
            nn.functional.cross_entropy(model(batch), labels).backward()
            best.step()
    torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt"))
    score = (model(x).argmax(1) == data.tensors[1]).float().mean().item()
    assert score > 0.9
    print("Final Validation Performance:", score)


if __name__ == "__main__":
    main()
