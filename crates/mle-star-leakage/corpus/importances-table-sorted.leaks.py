# expect: selected-before-split 12
import pandas as pd
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

frame = pd.read_parquet("sensors.parquet")
y = frame.pop("output")
features = frame.columns.tolist()

probe = ExtraTreesRegressor(n_estimators=100, random_state=0)
probe.fit(frame[features], y)
table = pd.DataFrame({"feature": features, "importance": probe.feature_importances_})
table = table.sort_values("importance", ascending=False)
best = table["feature"].head(25).tolist()
X_train, X_valid, y_train, y_valid = train_test_split(frame[best], y, test_size=0.25, random_state=11)

model = ExtraTreesRegressor(n_estimators=500, random_state=0)
model.fit(X_train[best], y_train)
score = mean_absolute_error(y_valid, model.predict(X_valid[best]))
print(f"Final Validation Performance: {score}")
