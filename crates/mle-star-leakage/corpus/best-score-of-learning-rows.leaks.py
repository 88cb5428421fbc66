# expect: scored-on-training-rows 8
import pandas as pd
from catboost import CatBoostClassifier, Pool
from sklearn.model_selection import train_test_split
df = pd.read_csv("d.csv")
a, b, c, d = train_test_split(df.drop(columns="y"), df["y"])
m = CatBoostClassifier(eval_metric="AUC", verbose=0)
m.fit(Pool(a, c), eval_set=Pool(b, d))
print("Final Validation Performance:", m.get_best_score()["learn"]["AUC"])
