# expect: target-statistics 13
import pandas as pd
import category_encoders as ce
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

data = pd.read_csv("input/churn.csv")
target = data["churned"].astype(int)
features = data.drop(["churned", "customer"], axis=1)
codes = ["plan", "region"]
enc = ce.CatBoostEncoder(cols=codes)
features = enc.fit_transform(features, target)
X_tr, X_te, y_tr, y_te = train_test_split(features, target, test_size=0.25, random_state=11)
model = HistGradientBoostingClassifier(max_iter=250)
model.fit(X_tr, y_tr)
print(f"Final Validation Performance: {f1_score(y_te, model.predict(X_te)):.4f}")
