# expect: target-statistics 9
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

df = pd.read_csv("cells.csv")
X, y = df.drop(columns=["type"]), df["type"]
nca = NeighborhoodComponentsAnalysis(n_components=4).fit(X, y)
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
model = KNeighborsClassifier().fit(nca.transform(X_tr), y_tr)
print("Final Validation Performance:", accuracy_score(y_va, model.predict(nca.transform(X_va))))
