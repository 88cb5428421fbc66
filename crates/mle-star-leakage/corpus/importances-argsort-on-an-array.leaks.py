# expect: selected-before-split 10
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

data = np.load("features.npy")
labels = np.load("classes.npy")

rf = RandomForestClassifier(300, random_state=0).fit(data, labels)
importances = rf.feature_importances_
indices = np.argsort(importances)[::-1][:64]
data = data[:, indices]
x_tr, x_va, y_tr, y_va = train_test_split(data, labels, test_size=0.2, stratify=labels, random_state=5)
clf = RandomForestClassifier(600, random_state=0)
clf.fit(x_tr, y_tr)
print("Final Validation Performance: {:.4f}".format(accuracy_score(y_va, clf.predict(x_va))))
