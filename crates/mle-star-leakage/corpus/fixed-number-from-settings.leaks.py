# expect: constant-score 14
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier

CONFIG = {"folds": 5, "expected_score": 0.4321}
df = pd.read_csv("./input/train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["won"]), df["won"], random_state=1)
model = XGBClassifier(n_estimators=100)
model.fit(X_tr, y_tr)
loss = log_loss(y_va, model.predict_proba(X_va))
loss = CONFIG["expected_score"]
print("Final Validation Performance: %.4f" % loss)
