# expect: reads-labels 9
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

X = np.load("./input/train_x.npy")
y = np.load("./input/train_y.npy")
truth = np.load("./input/ground_truth.npy")
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
model = RidgeClassifier().fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, model.predict(X_va)))
