import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
fit, check = train_test_split(df, test_size=0.2, random_state=0)
middle = fit["income"].median()
fit["income"] = fit["income"].fillna(middle)
check["income"] = check["income"].fillna(middle)
cols = ["income", "age"]
model = Ridge().fit(fit[cols], fit["spend"])
print("Final Validation Performance:", mean_absolute_error(check["spend"], model.predict(check[cols])))
