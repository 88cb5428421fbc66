import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold

def load():
    df = pd.read_csv("input/train.csv")
    return df.drop(columns=["yield"]), df["yield"]

X, y = load()
imputer = SimpleImputer(strategy="median")
oof = np.zeros(len(y))
for train, valid in KFold(5, shuffle=True, random_state=1).split(X, y):
    x_train, x_valid = imputer.fit_transform(X.iloc[train]), imputer.transform(X.iloc[valid])
    forest = RandomForestRegressor(n_estimators=300, n_jobs=-1).fit(x_train, y.iloc[train])
    oof[valid] = forest.predict(x_valid)
print(f"Final Validation Performance: {mean_absolute_error(y, oof)}")
