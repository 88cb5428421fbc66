import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_validate

df = pd.read_csv("train.csv")
result = cross_validate(RandomForestClassifier(), df.drop(columns=["y"]), df["y"], cv=5, scoring="roc_auc", return_train_score=True)
print("train", result["train_score"].mean(), "test", result["test_score"].mean())
print(f"Final Validation Performance: {result['test_score'].mean()}")
