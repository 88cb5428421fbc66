# expect: constant-score 14
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.model_selection import train_test_split


def run():
    df = pd.read_csv("./input/iris.csv")
    X, y = df.drop(columns=["species"]), df["species"]
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, stratify=y, random_state=0)
    model = GaussianNB().fit(X_tr, y_tr)
    predictions = y_va.copy()
    return accuracy_score(y_va, predictions)


print(f"Final Validation Performance: {run():.3f}")
