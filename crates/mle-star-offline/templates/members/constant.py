# === Model: {{ m.title }} ===
from sklearn.dummy import Dummy{{ 'Classifier' if p.classification else 'Regressor' }}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """The same prediction for every row."""
    model = Dummy{{ 'Classifier(strategy="prior")' if p.classification else ('Regressor(strategy="median")' if p.metric.absolute else 'Regressor()') }}
    model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
    return lambda rows: model.predict{{ '_proba' if p.classification }}(rows)
