import pandas as pd
from sklearn.cross_decomposition import PLSRegression
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("spectra.csv")
X, y = df.drop(columns=["sugar"]), df["sugar"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
pls = PLSRegression(n_components=10)
pls.fit(X_tr, y_tr)
Z_tr, Z_va = pls.transform(X_tr), pls.transform(X_va)
model = Ridge().fit(Z_tr, y_tr)
print("Final Validation Performance:", mean_squared_error(y_va, model.predict(Z_va)))
