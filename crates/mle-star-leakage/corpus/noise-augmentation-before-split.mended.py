import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

data = pd.read_csv("input/digits.csv")
X = data.drop("digit", axis=1).to_numpy() / 255.0
y = data["digit"].to_numpy()
rng = np.random.default_rng(0)


def augment(images, labels):
    noisy = images + rng.normal(0, 0.05, size=images.shape)
    return np.vstack([images, noisy]), np.concatenate([labels, labels])


X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
X_tr, y_tr = augment(X_tr, y_tr)
svc = SVC(C=10).fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, svc.predict(X_va)))
