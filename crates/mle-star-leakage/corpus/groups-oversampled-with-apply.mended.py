import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("tickets.csv")
df, valid = train_test_split(df, test_size=0.2, random_state=0)
biggest = df["queue"].value_counts().max()
df = df.groupby("queue", group_keys=False).apply(lambda part: part.sample(biggest, replace=True))
train = df
model = LogisticRegression().fit(train.drop(columns="queue"), train["queue"])
print("Final Validation Performance:", f1_score(valid["queue"], model.predict(valid.drop(columns="queue")), average="macro"))
