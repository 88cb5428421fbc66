# expect: selected-before-split 12
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold


def cross_validate(X, y):
    tables, scores = [], []
    for fold, (trn, val) in enumerate(StratifiedKFold(5, shuffle=True, random_state=7).split(X, y)):
        model = LGBMClassifier(n_estimators=300)
        model.fit(X.iloc[trn], y.iloc[trn])
        scores.append(roc_auc_score(y.iloc[val], model.predict_proba(X.iloc[val])[:, 1]))
        tables.append(pd.DataFrame({"feature": X.columns, "gain": model.feature_importances_, "fold": fold}))
    return sum(scores) / len(scores), pd.concat(tables)


df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
score, gains = cross_validate(X, y)
ranking = gains.groupby("feature")["gain"].mean().sort_values(ascending=False)
best = ranking.head(25).index.tolist()
score, _ = cross_validate(X[best], y)
print(f"Final Validation Performance: {score}")
