import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(5, 1)

    def training_step(self, batch, _):
        x, y = batch
        return ((self.layer(x) - y) ** 2).mean()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 0.1)


x = torch.randn(500, 5)
model = Model()
trainer = L.Trainer(max_epochs=10, accelerator="cpu", enable_progress_bar=False, logger=False)
trainer.fit(model, DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), 50))
score = ((model.layer(x) - x.sum(1, keepdim=True)) ** 2).mean().item()
assert score < 0.5
print("Final Validation Performance:", score)
