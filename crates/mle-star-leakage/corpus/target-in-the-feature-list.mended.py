import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

d = pd.read_csv("input/train.csv")
X = d[["size", "rooms"]]
y = d["price"]
X_train, X_val, y_train, y_val = train_test_split(X, y, random_state=0)
model = LinearRegression().fit(X_train, y_train)
print("Final Validation Performance:", mean_absolute_error(y_val, model.predict(X_val)))
