import numpy as np
import pandas as pd
from sklearn.linear_model import LassoCV
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR


class FeaturePicker:
    def __init__(self, cv=5):
        self.cv = cv
        self.columns_ = None

    def fit(self, X, y):
        scaled = StandardScaler().fit_transform(X)
        lasso = LassoCV(cv=self.cv).fit(scaled, y)
        self.columns_ = X.columns[lasso.coef_ != 0]
        return self

    def transform(self, X):
        return X[self.columns_]


wine = pd.read_csv("wine.csv")
X, y = wine.drop(columns=["quality"]), wine["quality"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
picker = FeaturePicker().fit(X_tr, y_tr)
X_tr, X_va = picker.transform(X_tr), picker.transform(X_va)
svr = SVR().fit(X_tr, y_tr)
rmse = np.sqrt(mean_squared_error(y_va, svr.predict(X_va)))
print(f"Final Validation Performance: {rmse}")
