import pandas as pd
from sklearn.feature_selection import RFE
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

df = pd.read_csv("input/energy.csv")
y = df["load"]
X = df.drop(columns=["load", "timestamp"])
model = make_pipeline(RFE(LinearRegression(), n_features_to_select=10), LinearRegression())
scores = cross_val_score(model, X, y, cv=KFold(5), scoring="r2")
print("Final Validation Performance:", scores.mean())
