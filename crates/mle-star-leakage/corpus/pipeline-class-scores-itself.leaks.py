# expect: scored-on-training-rows 30
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder


class Experiment:
    numeric = ["carat", "depth"]
    categorical = ["cut", "color"]

    def __init__(self, frame):
        self.train, self.valid = train_test_split(frame, test_size=0.2, random_state=13)
        prepare = ColumnTransformer([("cat", OneHotEncoder(handle_unknown="ignore"), self.categorical)],
                                    remainder="passthrough")
        self.model = Pipeline([("prepare", prepare), ("model", HistGradientBoostingRegressor())])

    def columns(self, frame):
        return frame[self.numeric + self.categorical]

    def fit(self):
        self.model.fit(self.columns(self.train), self.train["price"])
        return self

    def score(self):
        rows = self.train
        return mean_absolute_error(rows["price"], self.model.predict(self.columns(rows)))


experiment = Experiment(pd.read_csv("input/diamonds.csv")).fit()
print(f"Final Validation Performance: {experiment.score():.2f}")
