# expect: selected-before-split 7
import pandas as pd
from sklearn.linear_model import LassoCV, LinearRegression
from sklearn.model_selection import train_test_split
from sklearn.metrics import mean_squared_error
def lasso_select(X, y):
    lasso = LassoCV(cv=5, random_state=0).fit(X, y)
    coefs = pd.Series(lasso.coef_, index=X.columns)
    return coefs[coefs != 0].index.tolist()
data = pd.read_csv("housing.csv")
X = data.drop("median_value", axis=1)
y = data["median_value"]
cols = lasso_select(X, y)
X_train, X_val, y_train, y_val = train_test_split(X[cols], y, test_size=0.2, random_state=42)
lr = LinearRegression().fit(X_train, y_train)
print(f"Final Validation Performance: {mean_squared_error(y_val, lr.predict(X_val), squared=False)}")
