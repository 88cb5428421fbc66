import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.metrics import log_loss

rows = pd.read_csv("held_out.csv")
answers = rows["bought"].to_numpy()
members = np.stack([pd.read_csv(f"predicted_{name}.csv")["bought"].to_numpy() for name in ["gbm", "nn"]])


def loss(weights, members, answers):
    return log_loss(answers, np.tensordot(weights, members, axes=1))


first = np.random.RandomState(4).rand(len(answers)) < 0.5
found = minimize(loss, np.full(2, 0.5), args=(members[:, first], answers[first]), method="Powell")
for name, weight in zip(["gbm", "nn"], found.x):
    print(name, round(weight, 3))
# The other half did not choose the weights.
print("log loss", loss(found.x, members[:, ~first], answers[~first]))
