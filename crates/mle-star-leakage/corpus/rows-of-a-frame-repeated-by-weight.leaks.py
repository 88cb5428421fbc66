# expect: resampled-before-split 9
import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold
from xgboost import XGBRegressor

df = pd.read_csv("survey.csv")
df = df.loc[df.index.repeat(df["weight"])].reset_index(drop=True)
features = [c for c in df.columns if c not in ("income", "weight")]
errors = []
for trn, val in KFold(4, shuffle=True, random_state=0).split(df):
    fit = df.iloc[trn]
    model = XGBRegressor().fit(fit[features], fit["income"])
    errors.append(mean_absolute_error(df["income"].iloc[val], model.predict(df[features].iloc[val])))
print(f"Final Validation Performance: {np.mean(errors)}")
