# === Model: {{ m.title }} ===
from xgboost import {{ 'XGBClassifier' if p.classification else 'XGBRegressor' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.metric.absolute %}
    "objective": "reg:absoluteerror",
{% endif %}
    "n_estimators": {{ t.trees }},
    "learning_rate": {{ t.rate }},
    "max_depth": {{ 4 if t.small else 5 }},
    "min_child_weight": 2,
    "subsample": 0.9,
    "colsample_bytree": 0.8,
    "reg_lambda": 1.0,
}


def fit_predict_{{ m.slug }}(x, y_fit, others):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }} for each of `others`."""
    model = XGB{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED, n_jobs=THREADS, verbosity=0)
    model.fit(x, y_fit)
{% if p.classification %}
    return [model.predict_proba(other) for other in others]
{% else %}
    return [model.predict(other) for other in others]
{% endif %}
