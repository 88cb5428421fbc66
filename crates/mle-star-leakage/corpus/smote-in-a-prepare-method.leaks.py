# expect: resampled-before-split 10
import pandas as pd
from imblearn.over_sampling import SMOTE
from sklearn.model_selection import train_test_split
from sklearn.linear_model import LogisticRegression
class Pipe:
    def __init__(self, p): self.df = pd.read_csv(p)
    def prepare(self):
        self.X, self.y = self.df.drop(columns="y"), self.df["y"]
        self.X, self.y = SMOTE().fit_resample(self.X, self.y)
    def split(self):
        self.a, self.b, self.c, self.d = train_test_split(self.X, self.y)
    def run(self):
        self.prepare(); self.split()
        m = LogisticRegression().fit(self.a, self.c)
        return m.score(self.b, self.d)
print("Final Validation Performance:", Pipe("d.csv").run())
