# expect: selected-before-split 11
import numpy as np
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.feature_selection import SelectFromModel
from sklearn.pipeline import Pipeline

X = np.load("x.npy")
y = np.load("y.npy")
lasso = Lasso(alpha=0.01)
lasso.fit(X, y)
selected = np.where(np.abs(lasso.coef_) > 1e-6)[0]
X = X[:, selected]
model = LogisticRegression()
acc = cross_val_score(model, X, y, cv=5)
print(f"Final Validation Performance: {acc.mean():.4f}")
