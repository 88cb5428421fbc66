import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
df = pd.read_csv('train.csv')
f = ['a', 'b']
pos, neg = (df[df['y'] == 1], df[df['y'] == 0])
tr = pd.concat([pos[:800], neg[:800]]).sample(frac=1)
va = pd.concat([pos[800:], neg[800:]])
m = LogisticRegression().fit(tr[f], tr['y'])
print('Final Validation Performance:', accuracy_score(va['y'], m.predict(va[f])))
