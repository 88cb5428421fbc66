# expect: selected-before-split 10
import pandas as pd
from scipy.stats import pearsonr
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
df = pd.read_csv("train.csv")
target = "price"
results = []
for col in df.columns.drop(target):
    r, p = pearsonr(df[col], df[target])
    results.append({"feature": col, "r": r, "p": p})
res = pd.DataFrame(results)
good = res[res["p"] < 0.05]["feature"].tolist()
score = cross_val_score(Ridge(), df[good], df[target], cv=KFold(5, shuffle=True, random_state=0), scoring="r2")
print("Final Validation Performance:", score.mean())
