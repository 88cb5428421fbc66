# expect: unsupervised-before-split 11
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

data = pd.read_csv("./input/train.csv")
X, y = data.drop(columns=["label"]), data["label"]
pca = PCA(n_components=20, random_state=0)
parts = pca.fit_transform(X)
X_tr, X_va, y_tr, y_va = train_test_split(parts, y, test_size=0.2, random_state=0)
model = LogisticRegression(max_iter=2000).fit(X_tr, y_tr)
print("Final Validation Performance:", roc_auc_score(y_va, model.predict_proba(X_va)[:, 1]))
