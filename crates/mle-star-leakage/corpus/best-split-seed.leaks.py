# expect: chosen-on-scored-rows 16
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/yield.csv")
X, y = df[["rain", "sun", "soil"]], df["yield"]
best_score, best_state = -np.inf, None
for state in range(100):
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=state)
    model = RandomForestRegressor(n_estimators=50, random_state=0)
    model.fit(X_tr, y_tr)
    s = r2_score(y_va, model.predict(X_va))
    if s > best_score:
        best_score, best_state = s, state
print(f"Final Validation Performance: {best_score:.4f}")
