import torch
from accelerate import Accelerator

accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(3, 1)
x = torch.randn(100, 3)
model, best = accelerator.prepare(model, torch.optim.SGD(model.parameters(), 0.1))
for _ in range(100):
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    best.zero_grad()
    accelerator.backward(loss)
    best.step()
score = loss.item()
assert score < 0.1
print("Final Validation Performance:", score)
