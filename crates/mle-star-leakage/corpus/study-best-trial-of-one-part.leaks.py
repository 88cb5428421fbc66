# expect: chosen-on-scored-rows 14
import optuna, pandas as pd, xgboost as xgb
from sklearn.model_selection import train_test_split
from sklearn.metrics import mean_absolute_error
def main():
    df = pd.read_csv("d.csv")
    a, b, c, d = train_test_split(df.drop(columns="y"), df["y"], test_size=0.2, random_state=0)
    def objective(trial):
        p = dict(max_depth=trial.suggest_int("max_depth", 3, 10), eta=trial.suggest_float("eta", 0.01, 0.3), n_estimators=trial.suggest_int("n_estimators", 100, 1000))
        m = xgb.XGBRegressor(**p)
        m.fit(a, c)
        return mean_absolute_error(d, m.predict(b))
    study = optuna.create_study(direction="minimize")
    study.optimize(objective, n_trials=60)
    best = study.best_trial
    print("Best params:", best.params)
    print(f"Final Validation Performance: {best.value}")
main()
