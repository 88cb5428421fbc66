import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]), df["y"]
X_tr, X_va, y_tr, y_va = train_test_split(X, y, random_state=0)
rf = RandomForestRegressor(n_estimators=200).fit(X_tr, y_tr)
mae = mean_absolute_error(y_va, rf.predict(X_va))
rf.fit(X, y)
importances = pd.Series(rf.feature_importances_, index=X.columns).sort_values(ascending=False)
importances.head(20).to_csv("importances.csv")
weak = importances[importances < 0.001].index
print("weak:", list(weak))
print(f"Final Validation Performance: {mae}")
