import optuna
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

df = pd.read_csv("clicks.csv")
X, y = df.drop(columns=["click"]), df["click"]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)


def objective(trial):
    seed = trial.suggest_int("random_state", 0, 100)
    model = LGBMClassifier(num_leaves=trial.suggest_int("num_leaves", 8, 64), random_state=seed)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    return cross_val_score(model, X_train, y_train, cv=folds, scoring="roc_auc").mean()


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=100)
print("best of the search:", study.best_value)
model = LGBMClassifier(**study.best_params).fit(X_train, y_train)
print("AUC:", roc_auc_score(y_test, model.predict_proba(X_test)[:, 1]))
