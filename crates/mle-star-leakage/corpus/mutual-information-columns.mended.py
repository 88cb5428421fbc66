import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split

frame = pd.read_csv("input/sensors.csv")
labels = frame["state"]
readings = frame.drop(columns=["state"])


def informative(table, target, count):
    gain = mutual_info_classif(table, target, random_state=0)
    order = pd.Series(gain, index=table.columns).sort_values(ascending=False)
    return order.index[:count].tolist()


a, b, ya, yb = train_test_split(readings, labels, test_size=0.2, random_state=12)
chosen = informative(a, ya, 25)
a, b = a[chosen], b[chosen]
trees = ExtraTreesClassifier(n_estimators=300).fit(a, ya)
print(f"Final Validation Performance: {balanced_accuracy_score(yb, trees.predict(b)):.4f}")
