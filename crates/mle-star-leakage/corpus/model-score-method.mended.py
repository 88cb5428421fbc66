import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR
from sklearn.model_selection import cross_val_score

df = pd.read_csv("./input/concrete.csv")
X, y = df.drop("strength", axis=1), df["strength"]
pipe = make_pipeline(StandardScaler(), SVR(C=50))
result = cross_val_score(pipe, X, y, cv=5).mean()
pipe.fit(X, y)
print("Final Validation Performance:", result)
