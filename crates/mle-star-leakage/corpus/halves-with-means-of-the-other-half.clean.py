import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge, LogisticRegression
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.model_selection import KFold, train_test_split
df = pd.read_csv('train.csv')

is_a = df['part'] == 0
df.loc[is_a, 'te'] = df.loc[is_a, 'town'].map(df[~is_a].groupby('town')['price'].mean())
df.loc[~is_a, 'te'] = df.loc[~is_a, 'town'].map(df[is_a].groupby('town')['price'].mean())
a, b = df[is_a], df[~is_a]
m = Ridge().fit(a[['te', 'a']], a['price'])
print('Final Validation Performance:', mean_squared_error(b['price'], m.predict(b[['te', 'a']])))
