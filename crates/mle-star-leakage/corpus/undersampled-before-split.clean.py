import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("fraud.csv")
fraud = df[df["fraud"] == 1]
fine = df[df["fraud"] == 0].sample(len(fraud), random_state=0)
df = pd.concat([fraud, fine]).sample(frac=1, random_state=0)
parts = [group.sample(100) for _, group in df.groupby("fraud")]
df = pd.concat(parts)
train, valid = train_test_split(df, test_size=0.2, random_state=0)
model = LogisticRegression().fit(train.drop(columns="fraud"), train["fraud"])
print("Final Validation Performance:", roc_auc_score(valid["fraud"], model.predict_proba(valid.drop(columns="fraud"))[:, 1]))
