# expect: constant-score 11
import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
model = LinearRegression().fit(X_tr, y_tr)
rmse = y_va.std()
print(f"Final Validation Performance: {rmse}")
