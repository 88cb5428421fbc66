import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score
from sklearn.model_selection import StratifiedKFold
from tensorflow import keras
from tensorflow.keras import layers

df = pd.read_csv("digits.csv")
X, y = df.drop(columns=["digit"]).values / 255.0, df["digit"].values


def build():
    model = keras.Sequential([layers.Dense(128, activation="relu"), layers.Dense(10, activation="softmax")])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
    return model


scores = []
for trn, val in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
    model = build()
    model.fit(X[trn], y[trn], epochs=5, verbose=0)
    scores.append(accuracy_score(y[val], model.predict(X[val]).argmax(axis=1)))
print(f"Final Validation Performance: {np.mean(scores)}")
