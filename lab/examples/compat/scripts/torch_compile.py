import torch

model = torch.compile(torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU(), torch.nn.Linear(16, 1)))
x = torch.randn(64, 8)
best = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(20):
    best.zero_grad()
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    loss.backward()
    best.step()
score = loss.item()
assert score < 6
print("Final Validation Performance:", score)
