# === Sample ===
# A study compares variants, so a part of the rows is enough.
kept = np.random.default_rng(SEED).permutation(len(train))[:{{ rows }}]
train, y = train.iloc[kept].reset_index(drop=True), y[kept]
{% if p.weight %}
WEIGHTS = WEIGHTS[kept]
{% endif %}
{% if p.folds_file and not p.folds_file.id %}
ROWS = ROWS[kept]
{% endif %}
