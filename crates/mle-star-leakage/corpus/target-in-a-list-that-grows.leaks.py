# expect: target-as-feature 16
import pandas as pd
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

class Trainer:
    def __init__(self, target):
        self.target = target
        self.features = ["lat", "lon"]
        self.features += ["fare", "distance"]

    def run(self, table):
        fit, held = train_test_split(table, test_size=0.2, random_state=5)
        model = HistGradientBoostingRegressor(random_state=5)
        model.fit(fit[self.features], fit[self.target])
        return r2_score(held[self.target], model.predict(held[self.features]))

score = Trainer("fare").run(pd.read_csv("input/train.csv"))
print(f"Final Validation Performance: {score}")
