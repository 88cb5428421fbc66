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


skf = StratifiedKFold(5, shuffle=True, random_state=0)
scores = []
for fold, (tr, va) in enumerate(skf.split(X, y)):
    x_tr, x_va = X.iloc[tr], X.iloc[va]
    encoder = TargetEncoder(cols=cat_cols)
    x_tr = encoder.fit_transform(x_tr, y.iloc[tr])
    x_va = encoder.transform(x_va)
    gbm = lgb.LGBMClassifier(n_estimators=300, learning_rate=0.05)
    gbm.fit(x_tr, y.iloc[tr])
    p = gbm.predict_proba(x_va)[:, 1]
    scores.append(log_loss(y.iloc[va], p))
    print(f"fold {fold}: {scores[-1]:.5f}")
print("Final Validation Performance: {:.5f}".format(np.mean(scores)))
