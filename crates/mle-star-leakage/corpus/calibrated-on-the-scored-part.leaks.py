# expect: scored-on-training-rows 13
import pandas as pd
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], test_size=0.3, random_state=0)
forest = RandomForestClassifier(300).fit(X_tr, y_tr)
calibrated = CalibratedClassifierCV(forest, method="isotonic", cv="prefit")
calibrated.fit(X_va, y_va)
print("Final Validation Performance:", brier_score_loss(y_va, calibrated.predict_proba(X_va)[:, 1]))
