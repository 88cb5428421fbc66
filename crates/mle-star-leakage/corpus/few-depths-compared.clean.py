import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

df = pd.read_csv("train.csv")
X_tr, X_va, y_tr, y_va = train_test_split(df.drop(columns=["y"]), df["y"], random_state=0)
best = 0
for depth in [3, 5, 8]:
    tree = DecisionTreeClassifier(max_depth=depth).fit(X_tr, y_tr)
    acc = accuracy_score(y_va, tree.predict(X_va))
    if acc > best:
        best = acc
print(f"Final Validation Performance: {best}")
