# expect: selected-before-split 11
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import permutation_importance
from sklearn.model_selection import cross_val_score

df = pd.read_csv("bikes.csv")
y = df["count"]
X = df.drop(columns=["count"])
base = HistGradientBoostingRegressor().fit(X, y)
result = permutation_importance(base, X, y, n_repeats=5)
good = X.columns[result.importances_mean > 0]
X = X[good]
mae = -cross_val_score(HistGradientBoostingRegressor(), X, y, scoring="neg_mean_absolute_error").mean()
print(f"Final Validation Performance: {mae}")
