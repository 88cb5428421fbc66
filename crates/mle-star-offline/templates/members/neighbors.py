# === Model: {{ m.title }} ===
from sklearn.neighbors import {{ 'KNeighborsClassifier' if p.classification else 'KNeighborsRegressor' }}

PARAMS_{{ m.slug | upper }} = {
    "n_neighbors": 15,
    "weights": "distance",
    "p": 2,
}


def fit_predict_{{ m.slug }}(x, y_fit, others):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }} for each of `others`."""
    model = KNeighbors{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, n_jobs=THREADS)
    model.fit(x, y_fit)
{% if p.classification %}
    return [model.predict_proba(other) for other in others]
{% else %}
    return [model.predict(other) for other in others]
{% endif %}
