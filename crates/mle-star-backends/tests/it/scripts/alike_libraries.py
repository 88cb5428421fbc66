import numpy, pandas, scipy, sklearn, lightgbm, xgboost, catboost
print(numpy.__version__, pandas.__version__, numpy.get_printoptions(), numpy.geterr())
#---
import os
import numpy as np
from threadpoolctl import threadpool_info
import sklearn, sklearn.ensemble, lightgbm, xgboost
print(sorted((p['internal_api'], p['num_threads']) for p in threadpool_info()))
print(sorted(os.environ.keys() - {'MLE_STAR_CHILD'}))
#---
import numpy as np
np.random.seed(0)
print(np.random.rand(3), np.random.default_rng(1).normal(size=3), np.random.RandomState(2).randint(9, size=3))
a = np.random.rand(300, 300); print((a @ a).sum(), np.linalg.svd(a)[1][:3])
#---
import pandas as pd
frame = pd.read_csv('input/train.csv'); print(frame, frame.dtypes)
frame['no_such_column']
#---
import numpy as np
np.array([1.0]) / 0; np.log(np.array([-1.0]))
#---
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
x, y = load_breast_cancer(return_X_y=True)
print(cross_val_score(RandomForestClassifier(50, random_state=0, n_jobs=2), x, y, cv=3))
print('Final Validation Performance:', cross_val_score(RandomForestClassifier(20, random_state=0), x, y, cv=2, n_jobs=2).mean())
#---
from sklearn.datasets import load_breast_cancer
import lightgbm as lgb
x, y = load_breast_cancer(return_X_y=True)
print(lgb.LGBMClassifier(n_estimators=30, n_jobs=2, random_state=0, verbose=-1).fit(x, y).predict_proba(x)[:5])
#---
from sklearn.datasets import load_breast_cancer
import xgboost as xgb
x, y = load_breast_cancer(return_X_y=True)
print(xgb.XGBClassifier(n_estimators=30, n_jobs=2, random_state=0).fit(x, y, eval_set=[(x, y)], verbose=10).predict_proba(x)[:5])
#---
from sklearn.datasets import load_breast_cancer
from catboost import CatBoostClassifier
x, y = load_breast_cancer(return_X_y=True)
print(CatBoostClassifier(iterations=30, thread_count=2, random_seed=0, verbose=False).fit(x, y).predict_proba(x)[:5])
#---
from sklearn.linear_model import LogisticRegression
from sklearn.datasets import load_breast_cancer
x, y = load_breast_cancer(return_X_y=True)
LogisticRegression(max_iter=2).fit(x, y)
#---
from sklearn.linear_model import LogisticRegression
LogisticRegression().fit([[1]], ['a'])
#---
from joblib import Parallel, delayed
def square(x): return x * x
class Point:
    def __init__(self, x): self.x = x
def shift(p): return Point(p.x + 1)
print(Parallel(n_jobs=2)(delayed(square)(i) for i in range(8)), [p.x for p in Parallel(n_jobs=2)(delayed(shift)(Point(i)) for i in range(3))])
#---
import joblib, numpy as np
def total(a): return float(a.sum())
big = np.ones((2000, 1000))
print(joblib.Parallel(n_jobs=2)(joblib.delayed(total)(big) for _ in range(2)))
#---
import warnings, numpy as np
warnings.filterwarnings('ignore')
import matplotlib
matplotlib.use('Agg')
import matplotlib.pyplot as plt
plt.plot([1, 2]); plt.savefig('x.png'); import os; print(os.path.getsize('x.png') > 1000)
#---
import lightgbm as lgb
lgb.LGBMClassifier().fit([[1]], [0, 1])
#---
import xgboost as xgb
xgb.DMatrix([[1, 2]], label=[1, 2, 3])
#---
import torch_is_not_here
