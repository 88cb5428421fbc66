from flaml import AutoML
import pandas as pd

table = pd.read_csv("input/train.csv")
x, y = table[[f"x{n}" for n in range(5)]], table["y"]
from sklearn.model_selection import train_test_split

x, x_valid, y, y_valid = train_test_split(x, y, random_state=0)
search = AutoML()
search.fit(x, y, task="classification", time_budget=8, estimator_list=["lgbm", "rf"], n_jobs=2, verbose=0)
score = float((search.predict(x_valid) == y_valid).mean())
assert score > 0.7, score
print("Final Validation Performance:", score)
