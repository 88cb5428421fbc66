import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("churn.csv")
df, valid = train_test_split(df, test_size=0.25, random_state=1)
rare = df[df["left"] == 1]
frames = [df]
for _ in range(4):
    frames.append(rare)
df = pd.concat(frames, ignore_index=True)
train = df
model = GradientBoostingClassifier().fit(train.drop(columns=["left"]), train["left"])
auc = roc_auc_score(valid["left"], model.predict_proba(valid.drop(columns=["left"]))[:, 1])
print(f"Final Validation Performance: {auc}")
