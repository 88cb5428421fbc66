import tensorflow as tf
import pandas as pd

table = pd.read_csv("input/train.csv")
x, y = table[[f"x{n}" for n in range(5)]], table["y"]
from sklearn.model_selection import train_test_split

x, x_valid, y, y_valid = train_test_split(x, y, random_state=0)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, "relu"), tf.keras.layers.Dense(1, "sigmoid")])
model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
data = tf.data.Dataset.from_tensor_slices((x.to_numpy("float32"), y.to_numpy("float32"))).shuffle(1000)
model.fit(data.batch(16).prefetch(tf.data.AUTOTUNE), epochs=10, verbose=0)
model.save("model.keras")
score = tf.keras.models.load_model("model.keras").evaluate(x_valid.to_numpy("float32"), y_valid, verbose=0)[1]
assert score > 0.7, score
print("Final Validation Performance:", score)
