# expect: target-statistics 10
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

df = pd.read_csv("faces.csv")
X, y = df.drop(columns=["person"]).values, df["person"].values
X = LinearDiscriminantAnalysis(n_components=5).fit_transform(X, y)
model = KNeighborsClassifier()
scores = cross_val_score(model, X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0))
print("Final Validation Performance:", scores.mean())
