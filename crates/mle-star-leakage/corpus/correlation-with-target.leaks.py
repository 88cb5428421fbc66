# expect: selected-before-split 8
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

train = pd.read_csv("./input/train.csv")
corr = train.corr(numeric_only=True)["SalePrice"].abs()
top = corr[corr > 0.4].index.drop("SalePrice")
X, y = train[top], train["SalePrice"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=6)
ridge = Ridge(alpha=10)
ridge.fit(X_tr, y_tr)
print("Final Validation Performance:", mean_squared_error(y_va, ridge.predict(X_va), squared=False))
