# expect: scored-on-training-rows 25
import numpy as np
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import Conv2D, Dense, Flatten
from sklearn.model_selection import train_test_split


def build():
    model = Sequential()
    model.add(Conv2D(32, 3, activation="relu"))
    model.add(Flatten())
    model.add(Dense(10, activation="softmax"))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["acc"])
    return model


def train(x, y):
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.1)
    model = build()
    h = model.fit(x_tr, y_tr, validation_data=(x_va, y_va), epochs=10)
    return model, h


model, h = train(np.load("x.npy"), np.load("y.npy"))
score = max(h.history["acc"])
print("Final Validation Performance:", score)
