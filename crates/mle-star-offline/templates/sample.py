# === Sample ===
# A study compares variants, so a part of the rows is enough.
kept = np.random.default_rng(SEED).permutation(len(train))[:{{ rows }}]
train, y = train.iloc[kept].reset_index(drop=True), y[kept]
