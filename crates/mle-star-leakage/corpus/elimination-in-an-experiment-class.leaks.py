# expect: selected-before-split 14
import pandas as pd
from sklearn.feature_selection import RFECV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
class Experiment:
    def __init__(self, path, target):
        d = pd.read_csv(path)
        self.y = d[target]
        self.X = d.drop(target, axis=1)
        self.cv = StratifiedKFold(5, shuffle=True, random_state=1)
    def reduce(self):
        r = RFECV(RandomForestClassifier(), cv=self.cv)
        r.fit(self.X, self.y)
        self.X = self.X.loc[:, r.support_]
    def evaluate(self):
        return cross_val_score(RandomForestClassifier(), self.X, self.y, cv=self.cv, scoring="f1").mean()
e = Experiment("d.csv", "y")
e.reduce()
print(f"Final Validation Performance: {e.evaluate():.4f}")
