# expect: resampled-before-split 14
import pandas as pd
from imblearn.over_sampling import SMOTE
from imblearn.pipeline import Pipeline
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score


def prepare(path):
    df = pd.read_csv(path)
    X = df.drop("Class", axis=1)
    y = df["Class"]
    sampler = SMOTE(sampling_strategy=0.5, random_state=42)
    X, y = sampler.fit_resample(X, y)
    return X, y


X, y = prepare("./input/creditcard.csv")
model = RandomForestClassifier(n_estimators=100, random_state=42)
cv = StratifiedKFold(n_splits=5, shuffle=True, random_state=42)
scores = cross_val_score(model, X, y, cv=cv, scoring="average_precision", n_jobs=-1)
print(f"Final Validation Performance: {scores.mean():.4f}")
