import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
from sklearn.metrics import mean_absolute_error


def evaluate(y_true, y_pred):
    return mean_absolute_error(y_true, y_pred)


df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
model = Ridge().fit(X_tr, y_tr)
score = evaluate(y_va, model.predict(X_va))
print("Final Validation Performance:", score)
