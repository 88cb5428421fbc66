import pandas as pd
from lightgbm import LGBMRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

train = pd.read_csv("./input/train.csv")
X, y = train.drop(columns=["target"]), train["target"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
model = LGBMRegressor().fit(X_tr, y_tr)
score = mean_squared_error(y_va, model.predict(X_va))
print(f"Final Validation Performance: {score}")
