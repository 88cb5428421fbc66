# === Blend ===
{% if p.classification %}
from sklearn.linear_model import LogisticRegression
{% else %}
from sklearn.linear_model import Ridge
{% endif %}


def stacked(parts):
    """The parts side by side, one column each{{ ' and class, as log-odds' if p.classification else '' }}."""
{% if p.classification %}
    shares = np.hstack([np.clip(part, 1e-6, 1.0 - 1e-6) for part in parts])
    return np.log(shares) - np.log1p(-shares)
{% else %}
    return np.column_stack(parts)
{% endif %}


def blend(parts):
    """The combined out-of-fold predictions, and what combines others: a linear model; each fold uses that of the other folds."""
    level = stacked(parts)
{% if p.classification %}
    oof = np.zeros((len(level), len(CLASSES)))
    for fit_rows, valid_rows in {{ p.tuning }}:
        judge = LogisticRegression(C=0.1, max_iter=3000).fit(level[fit_rows], {{ p.truth }}[fit_rows]{{ ", sample_weight=" ~ p.weights ~ "[fit_rows]" if p.weight }})
        oof[np.ix_(valid_rows, judge.classes_)] = judge.predict_proba(level[valid_rows])
    judge = LogisticRegression(C=0.1, max_iter=3000).fit(level, {{ p.truth }}{{ ", sample_weight=" ~ p.weights if p.weight }})

    def combined(values):
        shares = np.zeros((len(values[0]), len(CLASSES)))
        shares[:, judge.classes_] = judge.predict_proba(stacked(values))
        return shares

    return oof, combined
{% else %}
    wanted = to_model_scale({{ p.truth }})
    oof = np.zeros(len(level))
    for fit_rows, valid_rows in {{ p.tuning }}:
        judge = Ridge(alpha=1.0, positive=True).fit(level[fit_rows], wanted[fit_rows]{{ ", sample_weight=" ~ p.weights ~ "[fit_rows]" if p.weight }})
        oof[valid_rows] = judge.predict(level[valid_rows])
    judge = Ridge(alpha=1.0, positive=True).fit(level, wanted{{ ", sample_weight=" ~ p.weights if p.weight }})
    return oof, lambda values: judge.predict(stacked(values))
{% endif %}


oof, combined = blend([values for values, _, _ in trained.values()])
predicted = combined([values for _, values, _ in trained.values()])
parts = [part for _, _, part in trained.values()]
predict = lambda rows: combined([part(rows) for part in parts])
