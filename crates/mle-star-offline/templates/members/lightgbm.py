# === Model: {{ m.title }} ===
from lightgbm import {{ 'LGBMClassifier' if p.classification else 'LGBMRegressor' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.metric.quantile %}
    "objective": "quantile",
    "alpha": {{ p.metric.quantile }},
{% elif p.metric.absolute %}
    "objective": "regression_l1",
{% endif %}
    "n_estimators": {{ t.rounds }},
    "learning_rate": {{ t.rate }},
    "num_leaves": {{ 16 if t.many_rows else 8 }},
    "min_child_samples": {{ 10 if t.small else 20 }},
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": {{ 0.3 if t.wide else 0.8 if t.many_rows else 0.5 }},
    "reg_lambda": 3.0,
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}; the result is what predicts other rows."""
    model = LGBM{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED, n_jobs={{ 1 if t.few else "THREADS" }}, verbose=-1)
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
    return lambda rows: model.{{ 'predict_proba' if p.classification else 'predict' }}(rows)
