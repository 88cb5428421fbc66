# === Model: {{ m.title }} ===
from sklearn.ensemble import {{ 'HistGradientBoostingClassifier' if p.classification else 'HistGradientBoostingRegressor' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.metric.quantile %}
    "loss": "quantile",
    "quantile": {{ p.metric.quantile }},
{% elif p.metric.absolute %}
    "loss": "absolute_error",
{% endif %}
    "max_iter": {{ t.rounds * 2 // 3 }},
    "learning_rate": {{ 0.12 if t.large_steps else 0.06 }},
    "max_leaf_nodes": {{ 31 if t.many_rows else 15 }},
    "min_samples_leaf": {{ 10 if t.small else 20 }},
    "l2_regularization": 1.0,
    "early_stopping": False,
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}; the result is what predicts other rows."""
    model = HistGradientBoosting{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED)
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
{% if p.classification %}
    return lambda rows: model.predict_proba(rows)
{% else %}
    return lambda rows: model.predict(rows)
{% endif %}
