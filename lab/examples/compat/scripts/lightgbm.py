import lightgbm
import pandas as pd

table = pd.read_csv("input/train.csv")
x, y = table[[f"x{n}" for n in range(5)]], table["y"]
from sklearn.model_selection import train_test_split

x, x_valid, y, y_valid = train_test_split(x, y, random_state=0)
score = lightgbm.LGBMClassifier(n_estimators=50, n_jobs=-1, verbose=-1).fit(x, y).score(x_valid, y_valid)
assert score > 0.7, score
print("Final Validation Performance:", score)
