# expect: target-statistics 11
import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("spectra.csv")
X, y = df.drop(columns=["sugar"]), df["sugar"]
pls = PLSRegression(n_components=10)
pls.fit(X, y)
Z = pls.transform(X)
Z_tr, Z_va, y_tr, y_va = train_test_split(Z, y, test_size=0.2, random_state=0)
model = Ridge().fit(Z_tr, y_tr)
print("Final Validation Performance:", mean_squared_error(y_va, model.predict(Z_va)))
