# === Model: {{ m.title }} ===
import warnings

from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import {{ 'MLPClassifier' if p.classification else 'MLPRegressor' }}

# A fixed number of rounds and a large penalty limit how closely the network follows the fitting rows.
warnings.simplefilter("ignore", ConvergenceWarning)
PARAMS_{{ m.slug | upper }} = {
    "hidden_layer_sizes": (64, 32),
    "alpha": 1.0,
    "learning_rate_init": 0.003,
    "batch_size": {{ 32 if t.small else 128 }},
    "max_iter": 12,
}


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """{{ 'Class probabilities' if p.classification else 'Predictions on the model scale' }}, averaged over two networks; the result is what predicts other rows."""
{% if not p.classification %}
    level, spread = np.mean(y_fit), max(np.std(y_fit), 1e-9)
{% endif %}
    models = []
    for seed in (SEED, SEED + 1):
        model = MLP{{ 'Classifier' if p.classification else 'Regressor' }}(**PARAMS_{{ m.slug | upper }}, random_state=seed)
{% if p.classification %}
        model.fit(x, y_fit{{ ", sample_weight=weight" if p.weight }})
        models.append(model)
{% else %}
        model.fit(x, (y_fit - level) / spread{{ ", sample_weight=weight" if p.weight }})
        models.append(model)
{% endif %}
{% if p.classification %}
    return lambda rows: np.mean([model.predict_proba(rows) for model in models], axis=0)
{% else %}
    return lambda rows: np.mean([model.predict(rows) * spread + level for model in models], axis=0)
{% endif %}
