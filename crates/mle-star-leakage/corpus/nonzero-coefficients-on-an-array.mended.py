import numpy as np
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import Pipeline

X = np.load("x.npy")
y = np.load("y.npy")
model = Pipeline([("select", SelectFromModel(Lasso(alpha=0.01))), ("clf", LogisticRegression())])
acc = cross_val_score(model, X, y, cv=5)
print(f"Final Validation Performance: {acc.mean():.4f}")
