# expect: resampled-before-split 10
import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
X, y = np.load("x.npy"), np.load("y.npy")
X_aug, y_aug = [], []
for img, lab in zip(X, y):
    X_aug.append(img)
    y_aug.append(lab)
    X_aug.append(np.fliplr(img))
    y_aug.append(lab)
X_aug, y_aug = np.array(X_aug), np.array(y_aug)
a, b, c, d = train_test_split(X_aug, y_aug, test_size=0.2)
m = SVC().fit(a, c)
print("Final Validation Performance:", m.score(b, d))
