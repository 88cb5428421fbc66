# expect: target-statistics 18
import numpy as np
import pandas as pd
from catboost import CatBoostRegressor
from sklearn.metrics import mean_squared_error
from sklearn.model_selection import KFold


class Trainer:
    def __init__(self, path, n_folds=5):
        self.data = pd.read_csv(path)
        self.n_folds = n_folds
        self.target = "rating"
        self.scores = []

    def prepare(self):
        self.data["title_len"] = self.data["title"].str.len()
        per_author = self.data.groupby("author")[self.target].mean()
        self.data["author_rating"] = self.data["author"].map(per_author)

    def split(self):
        return KFold(self.n_folds, shuffle=True, random_state=17).split(self.data)

    def run(self):
        self.prepare()
        for trn, val in self.split():
            fit = self.data.iloc[trn].copy()
            check = self.data.iloc[val].copy()
            columns = ["title_len", "pages", "author_rating"]
            model = CatBoostRegressor(iterations=300, verbose=0)
            model.fit(fit[columns], fit[self.target])
            error = mean_squared_error(check[self.target], model.predict(check[columns])) ** 0.5
            self.scores.append(error)
        return np.mean(self.scores)


trainer = Trainer("./input/books.csv")
print(f"Final Validation Performance: {trainer.run():.4f}")
