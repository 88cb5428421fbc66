import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import train_test_split
df = pd.read_csv('train.csv')
X, y = df[['a', 'b']], df['price']
scores = []
for seed in range(20):
    a, b, ya, yb = train_test_split(X, y, test_size=0.2, random_state=seed)
    model = Ridge().fit(a, ya)
    scores.append(mean_squared_error(yb, model.predict(b)))
print('mean', np.mean(scores))
print('worst', max(scores))
print('best', min(scores))
