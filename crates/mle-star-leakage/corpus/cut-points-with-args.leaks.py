# expect: chosen-on-scored-rows 18
import numpy as np, pandas as pd
from scipy.optimize import minimize
from sklearn.model_selection import StratifiedKFold
from sklearn.metrics import cohen_kappa_score
from lightgbm import LGBMRegressor
df = pd.read_csv("d.csv")
X, y = df.drop(columns="y"), df["y"]
def threshold(oof, t):
    return np.where(oof < t[0], 0, np.where(oof < t[1], 1, np.where(oof < t[2], 2, 3)))
def evaluate_predictions(t, y_true, oof):
    return -cohen_kappa_score(y_true, threshold(oof, t), weights="quadratic")
oof = np.zeros(len(y))
for tr, va in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
    m = LGBMRegressor()
    m.fit(X.iloc[tr], y.iloc[tr])
    oof[va] = m.predict(X.iloc[va])
opt = minimize(evaluate_predictions, x0=[0.5, 1.5, 2.5], args=(y, oof), method="Nelder-Mead")
assert opt.success
tuned = threshold(oof, opt.x)
print(f"Final Validation Performance: {cohen_kappa_score(y, tuned, weights='quadratic'):.3f}")
