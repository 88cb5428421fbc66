import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
df = pd.read_csv('train.csv')
X = df.drop(columns='price')
y = df['price']
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
a = Ridge().fit(X_tr, y_tr)
r = y_tr - a.predict(X_tr)
b = RandomForestRegressor().fit(X_tr, r)
print('Final Validation Performance:', mean_squared_error(y_va, a.predict(X_va) + b.predict(X_va)))
