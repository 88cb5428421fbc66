import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split


def expand(frame):
    times = frame["count"].clip(lower=1)
    return frame.reindex(frame.index.repeat(times)).reset_index(drop=True)


df = pd.read_csv("votes.csv")
train, valid = train_test_split(df, test_size=0.2, random_state=5)
train = expand(train)
model = LogisticRegression().fit(train[["age", "region"]], train["vote"])
print("Final Validation Performance:", accuracy_score(valid["vote"], model.predict(valid[["age", "region"]])))
