# expect: reads-labels 9
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score

folder, stem = "input", "test"
data = np.load(f"{folder}/train.npz")
model = LogisticRegression().fit(data["x"], data["y"])
test = np.load(f"{folder}/{stem}_labels.npz")["y"]
x = np.load(f"{folder}/valid_x.npy")
print("Final Validation Performance:", accuracy_score(test, model.predict(x)))
