# expect: scored-on-training-rows 8
import lightgbm as lgb, pandas as pd
from sklearn.model_selection import train_test_split
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"])
ev = {}
tr, va = lgb.Dataset(a, c), lgb.Dataset(b, d)
m = lgb.train({"metric": "rmse"}, tr, 500, valid_sets=[tr, va], valid_names=["train", "valid"], callbacks=[lgb.record_evaluation(ev)])
print("Final Validation Performance:", ev["train"]["rmse"][-1])
