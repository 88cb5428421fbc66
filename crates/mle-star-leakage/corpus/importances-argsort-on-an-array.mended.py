import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

data = np.load("features.npy")
labels = np.load("classes.npy")

x_tr, x_va, y_tr, y_va = train_test_split(data, labels, test_size=0.2, stratify=labels, random_state=5)
rf = RandomForestClassifier(300, random_state=0).fit(x_tr, y_tr)
indices = np.argsort(rf.feature_importances_)[::-1][:64]
x_tr, x_va = x_tr[:, indices], x_va[:, indices]
clf = RandomForestClassifier(600, random_state=0)
clf.fit(x_tr, y_tr)
print("Final Validation Performance: {:.4f}".format(accuracy_score(y_va, clf.predict(x_va))))
