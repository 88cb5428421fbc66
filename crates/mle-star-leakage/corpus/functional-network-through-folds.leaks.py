# expect: same-rows 13
import numpy as np, pandas as pd
from sklearn.model_selection import StratifiedKFold
from tensorflow.keras import layers, models
df = pd.read_csv("d.csv")
X, y = df.drop(columns="y").values, df["y"].values
inp = layers.Input((X.shape[1],))
out = layers.Dense(1, activation="sigmoid")(layers.Dense(32)(inp))
model = models.Model(inp, out)
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
accs = []
for tr, va in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
    model.fit(X[tr], y[tr], epochs=10, validation_data=(X[va], y[va]))
    loss, acc = model.evaluate(X[va], y[va])
    accs.append(acc)
print("Final Validation Performance:", np.mean(accs))
