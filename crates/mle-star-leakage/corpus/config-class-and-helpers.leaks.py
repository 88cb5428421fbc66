# expect: target-statistics 24
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold


class CFG:
    seed = 2023
    folds = 5
    target = "approved"
    cats = ["branch", "officer"]


def load_data(path):
    frame = pd.read_csv(path)
    frame.columns = [c.lower() for c in frame.columns]
    return frame


def add_rates(source, frames):
    for column in CFG.cats:
        rate = source.groupby(column)[CFG.target].mean()
        for frame in frames:
            frame[f"{column}_rate"] = frame[column].map(rate).fillna(source[CFG.target].mean())
    return frames


def run_cv(frame, features):
    oof = np.zeros(len(frame))
    skf = StratifiedKFold(n_splits=CFG.folds, shuffle=True, random_state=CFG.seed)
    for fold, (trn_idx, val_idx) in enumerate(skf.split(frame, frame[CFG.target])):
        trn = frame.iloc[trn_idx].reset_index(drop=True)
        val = frame.iloc[val_idx].reset_index(drop=True)
        model = RandomForestClassifier(n_estimators=500, random_state=CFG.seed, n_jobs=-1)
        model.fit(trn[features], trn[CFG.target])
        oof[val_idx] = model.predict_proba(val[features])[:, 1]
    return roc_auc_score(frame[CFG.target], oof), oof


if __name__ == "__main__":
    df = load_data("./input/train.csv")
    (df,) = add_rates(df, [df])
    features = ["amount", "term"] + [f"{c}_rate" for c in CFG.cats]
    score, oof = run_cv(df, features)
    print(f"Final Validation Performance: {score:.5f}")
