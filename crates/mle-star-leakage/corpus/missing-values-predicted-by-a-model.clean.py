import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
df = pd.read_csv('train.csv')
known = df[df['Age'].notna()]
f = ['Fare', 'Pclass']
imp = RandomForestRegressor().fit(known[f], known['Age'])
df.loc[df['Age'].isna(), 'Age'] = imp.predict(df.loc[df['Age'].isna(), f])
X = df.drop(columns=['Survived'])
y = df['Survived']
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
m = RandomForestRegressor().fit(X_tr, y_tr)
print('Final Validation Performance:', mean_squared_error(y_va, m.predict(X_va)))
