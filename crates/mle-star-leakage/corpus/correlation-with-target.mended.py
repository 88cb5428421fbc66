import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

train = pd.read_csv("./input/train.csv")
part, held = train_test_split(train, random_state=6)
corr = part.corr(numeric_only=True)["SalePrice"].abs()
top = corr[corr > 0.4].index.drop("SalePrice")
X_tr, X_va, y_tr, y_va = part[top], held[top], part["SalePrice"], held["SalePrice"]
ridge = Ridge(alpha=10)
ridge.fit(X_tr, y_tr)
print("Final Validation Performance:", mean_squared_error(y_va, ridge.predict(X_va), squared=False))
