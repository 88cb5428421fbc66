import statsmodels.api as sm
import pandas as pd

table = pd.read_csv("input/train.csv")
x, y = table[[f"x{n}" for n in range(5)]], table["y"]
from sklearn.model_selection import train_test_split

x, x_valid, y, y_valid = train_test_split(x, y, random_state=0)
fitted = sm.Logit(y, sm.add_constant(x)).fit(disp=0)
score = ((fitted.predict(sm.add_constant(x_valid)) > 0.5) == y_valid).mean()
assert score > 0.7, score
print("Final Validation Performance:", score)
