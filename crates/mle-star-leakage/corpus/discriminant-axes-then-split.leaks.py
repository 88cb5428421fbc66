# expect: target-statistics 10
import pandas as pd
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as LDA
from sklearn.svm import SVC
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
df = pd.read_csv("d.csv")
X = StandardScaler().fit_transform(df.drop(columns="y")); y = df["y"]
lda = LDA(n_components=2)
X_lda = lda.fit_transform(X, y)
a, b, c, d = train_test_split(X_lda, y, random_state=0)
print("Final Validation Performance:", SVC().fit(a, c).score(b, d))
