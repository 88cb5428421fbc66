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


def blend(trained):
    """A linear model of out-of-fold predictions; each fold uses the model of the other folds."""
    level = stacked([values for values, _ in trained.values()])
{% if p.classification %}
    oof = np.zeros((len(level), len(CLASSES)))
    for fit_rows, valid_rows in {{ p.tuning }}:
        judge = LogisticRegression(C=0.1, max_iter=3000).fit(level[fit_rows], {{ p.truth }}[fit_rows]{{ ", sample_weight=" ~ p.weights ~ "[fit_rows]" if p.weight }})
        oof[np.ix_(valid_rows, judge.classes_)] = judge.predict_proba(level[valid_rows])
    judge = LogisticRegression(C=0.1, max_iter=3000).fit(level, {{ p.truth }}{{ ", sample_weight=" ~ p.weights if p.weight }})
    predicted = np.zeros((len(test), len(CLASSES)))
    predicted[:, judge.classes_] = judge.predict_proba(stacked([values for _, values in trained.values()]))
{% else %}
    wanted = to_model_scale({{ p.truth }})
    oof = np.zeros(len(level))
    for fit_rows, valid_rows in {{ p.tuning }}:
        judge = Ridge(alpha=1.0, positive=True).fit(level[fit_rows], wanted[fit_rows]{{ ", sample_weight=" ~ p.weights ~ "[fit_rows]" if p.weight }})
        oof[valid_rows] = judge.predict(level[valid_rows])
    judge = Ridge(alpha=1.0, positive=True).fit(level, wanted{{ ", sample_weight=" ~ p.weights if p.weight }})
    predicted = judge.predict(stacked([values for _, values in trained.values()]))
{% endif %}
    return oof, predicted


oof, predicted = blend(trained)
