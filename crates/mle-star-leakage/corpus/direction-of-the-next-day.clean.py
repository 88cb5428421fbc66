import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
df = pd.read_csv('train.csv')
df = df.sort_values('date')
df['target'] = (df['close'].shift(-1) > df['close']).astype(int)
df['ret'] = df['close'].pct_change()
df = df.dropna()
f = ['close', 'ret', 'volume']
n = int(len(df) * 0.8)
tr, va = (df.iloc[:n], df.iloc[n:])
m = LogisticRegression().fit(tr[f], tr['target'])
print('Final Validation Performance:', accuracy_score(va['target'], m.predict(va[f])))
