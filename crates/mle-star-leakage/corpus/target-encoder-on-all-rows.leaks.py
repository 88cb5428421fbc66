# expect: target-statistics 15
import lightgbm as lgb
import numpy as np
import pandas as pd
from category_encoders import TargetEncoder
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("../input/train.csv")
cat_cols = ["city", "device", "channel"]
y = train.pop("clicked")
X = train.drop("row_id", axis=1)

encoder = TargetEncoder(cols=cat_cols)
X[cat_cols] = encoder.fit_transform(X[cat_cols], y)

skf = StratifiedKFold(5, shuffle=True, random_state=0)
scores = []
for fold, (tr, va) in enumerate(skf.split(X, y)):
    x_tr, x_va = X.iloc[tr], X.iloc[va]
    gbm = lgb.LGBMClassifier(n_estimators=300, learning_rate=0.05)
    gbm.fit(x_tr, y.iloc[tr])
    p = gbm.predict_proba(x_va)[:, 1]
    scores.append(log_loss(y.iloc[va], p))
    print(f"fold {fold}: {scores[-1]:.5f}")
print("Final Validation Performance: {:.5f}".format(np.mean(scores)))
