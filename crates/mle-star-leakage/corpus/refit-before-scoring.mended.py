import pandas as pd
from catboost import CatBoostClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["quality"]), df["quality"]
sss = StratifiedShuffleSplit(n_splits=1, test_size=0.2, random_state=0)
train_idx, valid_idx = next(sss.split(X, y))
model = CatBoostClassifier(iterations=200, verbose=False)
model.fit(X.iloc[train_idx], y.iloc[train_idx])
accuracy = accuracy_score(y.iloc[valid_idx], model.predict(X.iloc[valid_idx]))
model.fit(X, y)
print(f"Final Validation Performance: {accuracy:.4f}")
