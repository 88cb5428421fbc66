# === Model: {{ m.title }} ===
from xgboost import {{ 'XGBClassifier' if p.classification else 'XGBRegressor' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.metric.quantile %}
    "objective": "reg:quantileerror",
    "quantile_alpha": {{ p.metric.quantile }},
{% elif p.metric.absolute %}
    "objective": "reg:absoluteerror",
{% endif %}
    "n_estimators": {{ t.rounds }},
    "learning_rate": {{ 0.08 if t.large_steps else 0.06 }},
    "max_depth": {{ 5 if t.many_rows else 3 }},
    "min_child_weight": 5,
    "subsample": 0.8,
    "colsample_bytree": {{ 0.3 if t.wide else 0.6 }},
    "reg_lambda": 3.0,
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}; the result is what predicts other rows."""
    model = XGB{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED, n_jobs=THREADS, verbosity=0)
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
{% if p.classification %}
    return lambda rows: model.predict_proba(rows)
{% else %}
    return lambda rows: model.predict(rows)
{% endif %}
