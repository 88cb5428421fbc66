import numpy as np
import pandas as pd
from sklearn.model_selection import KFold, StratifiedKFold, GroupKFold, train_test_split, cross_val_score, GridSearchCV, cross_validate
from sklearn.metrics import roc_auc_score, mean_squared_error, accuracy_score, log_loss
from sklearn.linear_model import LogisticRegression, Ridge
import lightgbm as lgb
train = pd.read_csv("./input/train.csv")
test = pd.read_csv("./input/test.csv")
X = train.drop(columns=["target"]); y = train["target"]
fs, vs = [], []
for fold, (tr, va) in enumerate(KFold(5, shuffle=True, random_state=0).split(X)):
    m = lgb.LGBMRegressor().fit(X.iloc[tr], y.iloc[tr])
    a = mean_squared_error(y.iloc[tr], m.predict(X.iloc[tr])); b = mean_squared_error(y.iloc[va], m.predict(X.iloc[va]))
    fs.append(a); vs.append(b)
    print(f"[CV fold {fold}] fit={a:.4f} val={b:.4f}")
    print("cv fold", fold, "in-sample", a, "out-of-sample", b)
print(f"CV: in-sample {np.mean(fs):.4f}, out-of-fold {np.mean(vs):.4f}")
