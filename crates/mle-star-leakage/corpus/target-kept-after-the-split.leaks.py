# expect: target-as-feature 13
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

def columns_to_use():
    return ["balance", "tenure", "churned"]

df = pd.read_csv("input/train.csv")
part, rest = train_test_split(df, test_size=0.25, stratify=df["churned"], random_state=7)
clf = LogisticRegression(max_iter=1000)
clf.fit(part[columns_to_use()], part["churned"])
auc = roc_auc_score(rest["churned"], clf.predict_proba(rest[columns_to_use()])[:, 1])
print(f"Final Validation Performance: {auc}")
