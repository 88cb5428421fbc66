# === Model: {{ m.title }} ===
from sklearn.linear_model import {{ 'LogisticRegression' if p.classification else 'Ridge' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.classification %}
    "C": 4.0,
    "max_iter": 3000,
{% else %}
    "alpha": 1.0,
{% endif %}
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}; the result is what predicts other rows."""
    model = {{ 'LogisticRegression' if p.classification else 'Ridge' }}(**PARAMS_{{ m.slug | upper }}, random_state=SEED)
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
    return lambda rows: model.{{ 'predict_proba' if p.classification else 'predict' }}(rows)
