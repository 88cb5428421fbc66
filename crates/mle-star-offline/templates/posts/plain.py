# === Postprocessing ===
def decide(values):
{% if not p.classification %}
    """Predictions in the target's own unit{{ ', never below zero' if p.metric.positive else '' }}."""
{% if p.metric.positive %}
    return np.maximum(from_model_scale(values), 0.0)
{% else %}
    return from_model_scale(values)
{% endif %}
{% elif p.several and p.metric.labels %}
    """The more probable class of each target, as 0 or 1."""
    return (values >= 0.5).astype(int)
{% elif p.several %}
    """Probabilities away from 0 and 1."""
    return np.clip(values, 1e-6, 1.0 - 1e-6)
{% elif p.metric.ordinal %}
    """Scores of the classes by their distance to the expected class, since the metric penalises distant ones more."""
    ranks = np.arange(len(CLASSES))
    return -np.square((values @ ranks)[:, None] - ranks)
{% elif p.metric.labels %}
    """Probabilities as scores: the most probable class is predicted."""
    return values
{% else %}
    """Class probabilities that add up to one."""
    values = np.clip(values, 1e-6, 1.0)
    return values / values.sum(axis=1, keepdims=True)
{% endif %}


def postprocess(oof):
    """The decided out-of-fold predictions, and what decides others."""
    return decide(oof), decide
