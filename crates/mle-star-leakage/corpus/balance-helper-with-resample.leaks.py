# expect: resampled-before-split 12
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import resample


def balance(frame):
    positive = frame[frame["bad"] == 1]
    negative = frame[frame["bad"] == 0]
    more = resample(positive, replace=True, n_samples=len(negative), random_state=1)
    return pd.concat([negative, more], ignore_index=True)


data = pd.read_csv("credit.csv")
data = balance(data)
aucs = []
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(data, data["bad"]):
    fit, check = data.iloc[trn], data.iloc[val]
    model = LGBMClassifier().fit(fit.drop(columns=["bad"]), fit["bad"])
    aucs.append(roc_auc_score(check["bad"], model.predict_proba(check.drop(columns=["bad"]))[:, 1]))
print(f"Final Validation Performance: {sum(aucs) / len(aucs):.5f}")
