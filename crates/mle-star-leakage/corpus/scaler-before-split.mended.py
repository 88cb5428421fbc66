import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

df = pd.read_csv("./input/train.csv")
X, y = df.drop(columns=["sick"]), df["sick"]
scaler = StandardScaler()
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
X_tr = scaler.fit_transform(X_tr)
X_va = scaler.transform(X_va)
model = LogisticRegression().fit(X_tr, y_tr)
print("Final Validation Performance:", accuracy_score(y_va, model.predict(X_va)))
