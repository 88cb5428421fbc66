# expect: chosen-on-scored-rows 26
import optuna
import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["label"]), df["label"]
X_train, X_valid, y_train, y_valid = train_test_split(X, y, test_size=0.2, random_state=42)
X_fit, X_in, y_fit, y_in = X_train, X_valid, y_train, y_valid


def objective(trial):
    params = {
        "num_leaves": trial.suggest_int("num_leaves", 8, 256),
        "learning_rate": trial.suggest_float("learning_rate", 0.005, 0.3, log=True),
        "subsample": trial.suggest_float("subsample", 0.4, 1.0),
    }
    model = LGBMClassifier(**params, verbose=-1)
    model.fit(X_fit, y_fit)
    return roc_auc_score(y_in, model.predict_proba(X_in)[:, 1])


study = optuna.create_study(direction="maximize")
study.optimize(objective, n_trials=100)
print(f"Final Validation Performance: {study.best_value}")
