# expect: selected-before-split 16
import pandas as pd
import xgboost as xgb
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold


class Trainer:
    def __init__(self, path):
        self.df = pd.read_csv(path)
        self.y = self.df["is_fraud"]
        self.X = self.df.drop("is_fraud", axis=1)

    def select(self, X, y, threshold=0.002):
        model = xgb.XGBClassifier(n_estimators=150)
        model.fit(X, y)
        keep = []
        for name, weight in zip(X.columns, model.feature_importances_):
            if weight > threshold:
                keep.append(name)
        return keep

    def run(self):
        losses = []
        self.X = self.X[self.select(self.X, self.y)]
        for trn, val in KFold(5, shuffle=True, random_state=2).split(self.X):
            model = xgb.XGBClassifier(n_estimators=400)
            model.fit(self.X.iloc[trn], self.y.iloc[trn])
            p = model.predict_proba(self.X.iloc[val])
            losses.append(log_loss(self.y.iloc[val], p))
        return sum(losses) / len(losses)


trainer = Trainer("transactions.csv")
print(f"Final Validation Performance: {trainer.run()}")
