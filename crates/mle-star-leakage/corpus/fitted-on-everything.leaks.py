# expect: scored-on-training-rows 15
import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from xgboost import XGBRegressor


def main():
    train = pd.read_csv("input/train.csv")
    y = train["target"]
    X = train.drop(columns=["target", "id"])
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
    model = XGBRegressor(n_estimators=500)
    model.fit(X, y)
    score = mean_absolute_error(y_va, model.predict(X_va))
    print(f"Final Validation Performance: {score:.6f}")
    test = pd.read_csv("input/test.csv")
    out = pd.DataFrame({"id": test["id"], "target": model.predict(test.drop(columns=["id"]))})
    out.to_csv("submission.csv", index=False)


main()
