# expect: resampled-before-split 12
import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

rng = np.random.default_rng(0)
df = pd.read_csv("leads.csv")
minority = df.index[df["won"] == 1].to_numpy()
extra = rng.choice(minority, size=2000, replace=True)
df = pd.concat([df, df.loc[extra]]).reset_index(drop=True)
train, valid = train_test_split(df, test_size=0.2, random_state=0)
tree = DecisionTreeClassifier(max_depth=8).fit(train.drop(columns="won"), train["won"])
proba = tree.predict_proba(valid.drop(columns="won"))[:, 1]
print("Final Validation Performance:", roc_auc_score(valid["won"], proba))
