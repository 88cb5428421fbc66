# expect: scored-on-training-rows 13
import pandas as pd
from sklearn.model_selection import train_test_split
from tensorflow import keras

df = pd.read_csv("train.csv")
X, y = df.drop(columns=["y"]).values, df["y"].values
X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.2, random_state=0)
model = keras.Sequential([keras.layers.Dense(64, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(X_tr, y_tr, validation_data=(X_va, y_va), epochs=20, verbose=0)
print("val:", history.history["val_accuracy"][-1])
accuracy = history.history["accuracy"][-1]
print(f"Final Validation Performance: {accuracy:.4f}")
