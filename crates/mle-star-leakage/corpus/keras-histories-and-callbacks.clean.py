import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold
from tensorflow import keras

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]).values, df["y"].values


def build(width):
    model = keras.Sequential([keras.layers.Input((width,)), keras.layers.Dense(64, "relu"), keras.layers.Dense(1, "sigmoid")])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    return model


curves, losses = [], []
for trn, val in StratifiedKFold(5, shuffle=True, random_state=1).split(X, y):
    keras.backend.clear_session()
    model = build(X.shape[1])
    stop = keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True)
    history = model.fit(X[trn], y[trn], validation_data=(X[val], y[val]), epochs=100, callbacks=[stop], verbose=0)
    curves.append((history.history["loss"][-1], history.history["val_loss"][-1]))
    print("accuracy of training rows", history.history["accuracy"][-1])
    losses.append(log_loss(y[val], model.predict(X[val]).ravel()))
print("curves", np.mean(curves, axis=0))
print(f"Final Validation Performance: {np.mean(losses):.5f}")
