import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X, X_va, y, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
X_tr, X_ca, y_tr, y_ca = train_test_split(X, y, random_state=0)
rf = RandomForestClassifier().fit(X_tr, y_tr)
iso = IsotonicRegression(out_of_bounds="clip").fit(rf.predict_proba(X_ca)[:, 1], y_ca)
p = iso.predict(rf.predict_proba(X_va)[:, 1])
print("Final Validation Performance:", log_loss(y_va, p))
