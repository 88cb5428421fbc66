import pandas as pd
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def validate(model, X, y):
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
    model.fit(X_tr, y_tr)
    return accuracy_score(y_va, model.predict(X_va))


df = pd.read_csv("./input/train.csv")
score = validate(DummyClassifier(), df.drop(columns=["y"]), df["y"])
print("Final Validation Performance: {:.3f}".format(round(score, 3)))
