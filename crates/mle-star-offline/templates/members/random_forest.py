# === Model: {{ m.title }} ===
from sklearn.ensemble import RandomForest{{ 'Classifier' if p.classification else 'Regressor' }}

PARAMS_{{ m.slug | upper }} = {
    "n_estimators": 150,
    "min_samples_leaf": 2,
    "max_features": {{ '"sqrt"' if p.classification else '0.6' }},
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}; the result is what predicts other rows."""
    model = RandomForest{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED, n_jobs=THREADS)
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
{% if p.classification %}
    return lambda rows: model.predict_proba(rows)
{% else %}
    return lambda rows: model.predict(rows)
{% endif %}
