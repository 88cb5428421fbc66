# === Model: {{ m.title }} ===
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import {{ 'LogisticRegression' if p.classification else 'Ridge' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.classification %}
    "C": 1.0,
    "max_iter": 1000,
{% else %}
    "alpha": 1.0,
{% endif %}
}


def fit_predict_{{ m.slug }}(x, y_fit, others):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }} for each of `others`."""
    near = Nystroem(n_components=min(200, x.shape[0]), gamma=0.3 / x.shape[1], random_state=SEED).fit(x)
    model = {{ 'LogisticRegression' if p.classification else 'Ridge' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED)
    model.fit(near.transform(x), y_fit)
{% if p.classification %}
    return [model.predict_proba(near.transform(other)) for other in others]
{% else %}
    return [model.predict(near.transform(other)) for other in others]
{% endif %}
