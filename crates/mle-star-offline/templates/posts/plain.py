# === Postprocessing ===
def postprocess(oof, predicted):
{% if not p.classification %}
    """Predictions in the target's own unit{{ ', never below zero' if p.metric.positive else '' }}."""
{% if p.metric.positive %}
    return np.maximum(from_model_scale(oof), 0.0), np.maximum(from_model_scale(predicted), 0.0)
{% else %}
    return from_model_scale(oof), from_model_scale(predicted)
{% endif %}
{% elif p.several and p.metric.labels %}
    """The more probable class of each target, as 0 or 1."""
    return (oof >= 0.5).astype(int), (predicted >= 0.5).astype(int)
{% elif p.several %}
    """Probabilities away from 0 and 1."""
    return np.clip(oof, 1e-6, 1.0 - 1e-6), np.clip(predicted, 1e-6, 1.0 - 1e-6)
{% elif p.metric.ordinal %}
    """Scores of the classes by their distance to the expected class, since the metric penalises distant ones more."""
    ranks = np.arange(len(CLASSES))
    closeness = lambda values: -np.square((values @ ranks)[:, None] - ranks)
    return closeness(oof), closeness(predicted)
{% elif p.metric.labels %}
    """Probabilities as scores: the most probable class is predicted."""
    return oof, predicted
{% else %}
    """Class probabilities that add up to one."""
    oof, predicted = np.clip(oof, 1e-6, 1.0), np.clip(predicted, 1e-6, 1.0)
    return oof / oof.sum(axis=1, keepdims=True), predicted / predicted.sum(axis=1, keepdims=True)
{% endif %}
