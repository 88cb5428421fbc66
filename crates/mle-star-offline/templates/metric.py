# === Metric ===
{{ p.metric.source }}


{% if p.several %}
def metric(truth, predicted, weight=None):
    """The mean of the scores of the targets."""
{% if p.classification and not p.metric.labels %}
    pairs = [np.column_stack([1.0 - values, values]) for values in predicted.T]
    return np.mean([score(labels, pair, weight) for labels, pair in zip(truth.T, pairs)])
{% else %}
    return np.mean([score(labels, values, weight) for labels, values in zip(truth.T, predicted.T)])
{% endif %}
{% elif p.metric.labels or p.metric.guesses %}
def metric(truth, scores, weight=None):
    """The score of the class{{ "es" if p.metric.guesses }} with the largest scores."""
    return score(truth, {{ "np.argsort(-scores, axis=1, kind=\"stable\")" if p.metric.guesses else "scores.argmax(axis=1)" }}, weight)
{% elif p.layout.absent and p.classes == 2 and p.metric.by_order %}
def metric(truth, predicted, weight=None):
    """The score of the two classes that have rows."""
    return score(truth, predicted[:, :2], weight)
{% else %}
metric = score
{% endif %}
