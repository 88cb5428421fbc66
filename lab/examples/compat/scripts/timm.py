import timm
import torch

model = timm.create_model("resnet18", pretrained=False, num_classes=3)
model(torch.randn(4, 3, 64, 64)).sum().backward()
transform = timm.data.create_transform(64, is_training=True, auto_augment="rand-m9-mstd0.5")
from PIL import Image

score = float(transform(Image.new("RGB", (80, 80))).shape[1] == 64)
print("Final Validation Performance:", score)
