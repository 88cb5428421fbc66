# expect: scored-on-training-rows 13
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/titanic.csv")
X = pd.get_dummies(df[["Pclass", "Sex", "Fare"]].fillna(0))
y = df["Survived"]
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=42)
model = RandomForestClassifier(n_estimators=100, random_state=42)
model.fit(X_train, y_train)
score = accuracy_score(y_train, model.predict(X_train))
print(f"Final Validation Performance: {score}")
