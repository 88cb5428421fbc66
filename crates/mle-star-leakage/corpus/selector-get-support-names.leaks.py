# expect: selected-before-split 13
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

train = pd.read_csv("train.csv")
y = train["target"]
features = [c for c in train.columns if c not in ["id", "target"]]

selector = SelectFromModel(RandomForestClassifier(200), threshold="median")
selector.fit(train[features], y)
features = [f for f, keep in zip(features, selector.get_support()) if keep]

f1s = []
for tr, va in StratifiedKFold(5, shuffle=True, random_state=42).split(train, y):
    chosen = features
    clf = RandomForestClassifier(500)
    clf.fit(train.iloc[tr][chosen], y.iloc[tr])
    f1s.append(f1_score(y.iloc[va], clf.predict(train.iloc[va][chosen])))
print(f"Final Validation Performance: {sum(f1s)/len(f1s)}")
