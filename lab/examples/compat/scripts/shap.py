import lightgbm
import numpy as np
import shap
import pandas as pd

table = pd.read_csv("input/train.csv")
x, y = table[[f"x{n}" for n in range(5)]], table["y"]
from sklearn.model_selection import train_test_split

x, x_valid, y, y_valid = train_test_split(x, y, random_state=0)
fitted = lightgbm.LGBMClassifier(n_estimators=20, verbose=-1).fit(x, y)
values = shap.TreeExplainer(fitted).shap_values(x_valid)
assert int(np.abs(values).mean(0).argmax()) == 0
shap.summary_plot(values, x_valid, show=False)
score = fitted.score(x_valid, y_valid)
assert score > 0.7, score
print("Final Validation Performance:", score)
