import pandas as pd
from sklearn.ensemble import RandomForestRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split

df = pd.read_csv("./input/train.csv")
target = "strength"
train, valid = train_test_split(df, test_size=0.2, random_state=4)
source = train
kept = []
for column in df.columns.drop(target):
    if abs(source[column].corr(source[target])) > 0.15:
        kept.append(column)
model = RandomForestRegressor(n_estimators=200).fit(train[kept], train[target])
print("Final Validation Performance:", mean_absolute_error(valid[target], model.predict(valid[kept])))
