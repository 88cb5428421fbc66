import albumentations as A
import numpy as np

change = A.Compose([A.HorizontalFlip(p=1), A.RandomBrightnessContrast(p=1), A.Resize(32, 32)])
score = float(change(image=np.zeros((64, 64, 3), np.uint8))["image"].shape == (32, 32, 3))
print("Final Validation Performance:", score)
