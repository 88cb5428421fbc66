import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

df = pd.read_csv("input/attrition.csv")
columns = ["tenure", "salary", "overtime"]


def balance(frame):
    stay = frame[frame["left"] == 0]
    leave = frame[frame["left"] == 1]
    more = resample(leave, replace=True, n_samples=len(stay), random_state=3)
    return pd.concat([stay, more])


train, test = train_test_split(df, test_size=0.25, random_state=3)
train = balance(train)
gb = GradientBoostingClassifier().fit(train[columns], train["left"])
auc = roc_auc_score(test["left"], gb.predict_proba(test[columns])[:, 1])
print(f"Final Validation Performance: {auc:.5f}")
