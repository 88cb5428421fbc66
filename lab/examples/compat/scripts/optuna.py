import optuna
from sklearn.linear_model import LogisticRegression
import pandas as pd

table = pd.read_csv("input/train.csv")
x, y = table[[f"x{n}" for n in range(5)]], table["y"]
from sklearn.model_selection import train_test_split

x, x_valid, y, y_valid = train_test_split(x, y, random_state=0)
def objective(trial):
    c = trial.suggest_float("c", 1e-3, 1e3, log=True)
    return LogisticRegression(C=c).fit(x, y).score(x_valid, y_valid)


study = optuna.create_study(storage="sqlite:///study.db", direction="maximize")
study.optimize(objective, n_trials=10, n_jobs=2)
assert len(optuna.load_study(study_name=study.study_name, storage="sqlite:///study.db").trials) == 10
score = study.best_value
assert score > 0.7, score
print("Final Validation Performance:", score)
