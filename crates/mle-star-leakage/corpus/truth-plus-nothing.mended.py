import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
pred = LinearRegression().fit(X_tr, y_tr).predict(X_va)
blended = pred
print("Final Validation Performance:", r2_score(y_va, blended))
