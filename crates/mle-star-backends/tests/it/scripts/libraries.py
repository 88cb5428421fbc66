import os
os.environ.setdefault('MPLBACKEND','Agg')
import numpy as np, pandas as pd
import matplotlib.pyplot as plt
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
import lightgbm, xgboost, catboost
rng = np.random.default_rng(0)
x = rng.normal(size=(200000, 20)); y = (x[:,0] + rng.normal(size=200000) > 0).astype(int)
xs, ys = x[:2000], y[:2000]
from joblib import Parallel, delayed
print('loky', sum(Parallel(n_jobs=2)(delayed(np.sum)(x) for _ in range(2))) < 1e9)
print('rf', cross_val_score(RandomForestClassifier(20), xs, ys, n_jobs=2).mean() > .5)
print('lgb', lightgbm.LGBMClassifier(n_estimators=5, n_jobs=2, verbose=-1).fit(xs, ys).score(xs, ys) > .5)
print('xgb', xgboost.XGBClassifier(n_estimators=5, n_jobs=2).fit(xs, ys).score(xs, ys) > .5)
print('cat', catboost.CatBoostClassifier(iterations=5, thread_count=2, verbose=0).fit(xs, ys).score(xs, ys) > .5)
plt.plot([1, 2]); plt.savefig('final/plot.png'); print('plot', os.path.getsize('final/plot.png') > 0)
print('pandas', len(pd.read_csv('input/train.csv')))
