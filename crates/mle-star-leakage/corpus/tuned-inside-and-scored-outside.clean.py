import numpy as np
import optuna
import pandas as pd
from lightgbm import LGBMClassifier
from scipy.optimize import minimize
from sklearn.metrics import f1_score, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

df = pd.read_csv("train.csv")
X, X_hold, y, y_hold = train_test_split(df.drop(columns=["y"]), df["y"], test_size=0.2, random_state=0, stratify=df["y"])


def objective(trial):
    params = {"n_estimators": trial.suggest_int("n_estimators", 50, 500), "num_leaves": trial.suggest_int("num_leaves", 8, 128)}
    return cross_val_score(LGBMClassifier(**params), X, y, cv=5, scoring="roc_auc").mean()


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=100)
print("inner", study.best_value)
oof = np.zeros(len(X))
for trn, val in StratifiedKFold(5, shuffle=True, random_state=3).split(X, y):
    model = LGBMClassifier(**study.best_params).fit(X.iloc[trn], y.iloc[trn])
    oof[val] = model.predict_proba(X.iloc[val])[:, 1]
cuts = np.linspace(0.1, 0.9, 81)
best = cuts[np.argmax([f1_score(y, oof > cut) for cut in cuts])]
final = LGBMClassifier(**study.best_params).fit(X, y)
proba = final.predict_proba(X_hold)[:, 1]
print("auc", roc_auc_score(y_hold, proba))
print(f"Final Validation Performance: {f1_score(y_hold, proba > best)}")
