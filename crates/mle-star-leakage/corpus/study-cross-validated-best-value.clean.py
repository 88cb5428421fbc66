import optuna
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
cv = StratifiedKFold(5, shuffle=True, random_state=0)


def objective(trial):
    model = RandomForestClassifier(max_depth=trial.suggest_int("max_depth", 2, 20))
    return cross_val_score(model, X, y, cv=cv).mean()


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=30)
print(f"Final Validation Performance: {study.best_value}")
