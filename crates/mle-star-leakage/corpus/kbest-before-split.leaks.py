# expect: selected-before-split 11
import pandas as pd
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import train_test_split

df = pd.read_csv("input/genes.csv")
X, y = df.drop(columns=["tumor"]), df["tumor"]
selector = SelectKBest(f_classif, k=50)
X = selector.fit_transform(X, y)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
model = LogisticRegression(C=0.1, max_iter=2000).fit(X_train, y_train)
print(f"Final Validation Performance: {accuracy_score(y_test, model.predict(X_test))}")
