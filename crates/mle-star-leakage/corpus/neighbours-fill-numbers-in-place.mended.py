import pandas as pd
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.impute import KNNImputer
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

people = pd.read_csv("input/train.csv")
NUMBERS = ["age", "income", "debt"]
imputer = KNNImputer(n_neighbors=5)
fit, val = train_test_split(people, test_size=0.3, random_state=11)
fit[NUMBERS] = imputer.fit_transform(fit[NUMBERS])
val[NUMBERS] = imputer.transform(val[NUMBERS])
model = GradientBoostingClassifier().fit(fit[NUMBERS], fit["default"])
print("Final Validation Performance:", accuracy_score(val["default"], model.predict(val[NUMBERS])))
