# === Model: {{ m.title }} ===
from catboost import {{ 'CatBoostClassifier' if p.classification else 'CatBoostRegressor' }}

PARAMS_{{ m.slug | upper }} = {
{% if p.metric.quantile %}
    "loss_function": "Quantile:alpha={{ p.metric.quantile }}",
{% elif p.metric.absolute %}
    "loss_function": "MAE",
{% endif %}
    "iterations": {{ t.rounds // 2 if t.rare else t.rounds }},
    "learning_rate": {{ 0.16 if p.classes > 2 else 0.12 if t.many_rows else 0.07 }},
    "depth": {{ 6 if t.many_rows else 4 }},
    "l2_leaf_reg": 3.0,
{% if t.wide %}
    "rsm": 0.3,
{% endif %}
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}; the result is what predicts other rows."""
    model = CatBoost{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_seed=SEED, thread_count=THREADS, verbose=False, allow_writing_files=False{{ ", allow_const_label=True" if not p.classification }})
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }}, cat_features=list(x.select_dtypes(exclude="number").columns))
{% if p.classification %}
    return lambda rows: model.predict_proba(rows)
{% else %}
    return lambda rows: model.predict(rows)
{% endif %}
