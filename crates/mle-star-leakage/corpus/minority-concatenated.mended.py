import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("input/defects.csv")
train, valid = train_test_split(df, test_size=0.2, random_state=8)
defects = train[train["defect"] == 1]
train = pd.concat([train, defects, defects])
columns = ["width", "height", "pressure"]
model = LogisticRegression(max_iter=300)
model.fit(train[columns], train["defect"])
print(f"Final Validation Performance: {recall_score(valid['defect'], model.predict(valid[columns])):.4f}")
