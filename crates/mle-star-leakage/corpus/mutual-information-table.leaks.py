# expect: selected-before-split 8
import pandas as pd
from sklearn.feature_selection import mutual_info_regression
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import cross_val_score
df = pd.read_csv("a.csv")
X, y = df.drop(columns="y"), df["y"]
mi = pd.DataFrame({"col": X.columns, "mi": mutual_info_regression(X, y)})
mi = mi.sort_values("mi", ascending=False).reset_index(drop=True)
selected = mi.loc[mi.mi > 0.02, "col"].values
print("Final Validation Performance:", cross_val_score(RandomForestRegressor(), X[selected], y).mean())
