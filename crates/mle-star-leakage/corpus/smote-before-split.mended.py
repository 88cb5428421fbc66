import pandas as pd
from imblearn.over_sampling import SMOTE
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv").fillna(0)
X, y = df.drop(columns=["label"]), df["label"]
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.2, random_state=0)
X_train, y_train = SMOTE(random_state=0).fit_resample(X_train, y_train)
rf = RandomForestClassifier(n_estimators=400, n_jobs=-1).fit(X_train, y_train)
print("Final Validation Performance:", f1_score(y_val, rf.predict(X_val)))
