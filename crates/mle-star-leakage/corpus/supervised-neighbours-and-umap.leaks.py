# expect: target-statistics 12
import numpy as np
import pandas as pd
import umap
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis

df = pd.read_csv("cells.csv")
X, y = df.drop(columns=["type"]).values, df["type"].values
reducer = umap.UMAP(n_components=8, random_state=0)
points = reducer.fit_transform(X, y=y)
X_tr, X_va, y_tr, y_va = train_test_split(np.hstack([X, points]), y, random_state=0)
model = KNeighborsClassifier().fit(X_tr, y_tr)
print(f"Final Validation Performance: {accuracy_score(y_va, model.predict(X_va))}")
