# expect: chosen-on-scored-rows 24
import optuna
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split


class Tuner:
    def __init__(self, frame, target):
        parts = train_test_split(frame.drop(columns=[target]), frame[target], test_size=0.2, random_state=0)
        self.X_tr, self.X_va, self.y_tr, self.y_va = parts

    def objective(self, trial):
        model = RandomForestRegressor(
            n_estimators=trial.suggest_int("n_estimators", 50, 500),
            max_depth=trial.suggest_int("max_depth", 2, 30),
        )
        model.fit(self.X_tr, self.y_tr)
        return mean_squared_error(self.y_va, model.predict(self.X_va)) ** 0.5

    def run(self):
        study = optuna.create_study(direction="minimize")
        study.optimize(lambda trial: self.objective(trial), n_trials=200)
        return study


def main():
    study = Tuner(pd.read_csv("cars.csv"), "price").run()
    print(f"Final Validation Performance: {study.best_trial.value:.4f}")


main()
