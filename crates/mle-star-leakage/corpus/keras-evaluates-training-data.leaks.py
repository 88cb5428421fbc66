# expect: scored-on-training-rows 16
import pandas as pd
from sklearn.model_selection import train_test_split
from tensorflow import keras

df = pd.read_csv("./input/train.csv")
X = df.drop(columns=["label"]).to_numpy("float32") / 255.0
y = df["label"].to_numpy()
x_fit, x_val, y_fit, y_val = train_test_split(X, y, test_size=0.1, random_state=0)
net = keras.Sequential([
    keras.layers.Dense(128, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
net.fit(x_fit, y_fit, epochs=5, batch_size=64, verbose=0)
loss, accuracy = net.evaluate(x_fit, y_fit, verbose=0)
print("Final Validation Performance:", accuracy)
