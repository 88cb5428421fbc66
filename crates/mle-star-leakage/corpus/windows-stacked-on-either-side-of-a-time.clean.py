import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

WIDTH, AHEAD = 48, 6
level = pd.read_csv("input/train.csv").sort_values("hour")["level"].to_numpy()
cut = int(len(level) * 0.85)


def windows(first, end):
    inputs, outcomes = [], []
    for hour in range(max(first, WIDTH + AHEAD), end):
        inputs.append(level[hour - AHEAD - WIDTH : hour - AHEAD])
        outcomes.append(level[hour])
    return np.stack(inputs)[..., None], np.array(outcomes)


x_fit, y_fit = windows(0, cut)
x_held, y_held = windows(cut, len(level))
model = Ridge().fit(x_fit[:, :, 0], y_fit)
print("Final Validation Performance:", mean_absolute_error(level[cut:], model.predict(x_held[:, :, 0])))
