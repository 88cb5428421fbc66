# expect: scored-on-training-rows 9
import tensorflow as tf, numpy as np
from sklearn.model_selection import train_test_split
X, y = np.load("x.npy"), np.load("y.npy")
a, b, c, d = train_test_split(X, y, test_size=0.2)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse", metrics=["mae"])
hist = model.fit(a, c, validation_data=(b, d), epochs=50, batch_size=32).history
mae = hist["mae"][-1]
print(f"Final Validation Performance: {mae}")
