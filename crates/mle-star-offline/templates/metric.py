# === Metric ===
{{ p.metric.import }}


{% if p.several %}
def metric_of_one(truth, predicted{{ ", weight" if p.weight }}):
    """{{ p.metric.words }}."""
    return {{ p.metric.expression | replace("len(CLASSES)", "2") }}


def metric(truth, predicted{{ ", weight" if p.weight }}):
    """The mean over the targets."""
{% if p.classification and not p.metric.labels %}
    pairs = [np.column_stack([1.0 - values, values]) for values in predicted.T]
    return np.mean([metric_of_one(labels, pair{{ ", weight" if p.weight }}) for labels, pair in zip(truth.T, pairs)])
{% else %}
    return np.mean([metric_of_one(labels, values{{ ", weight" if p.weight }}) for labels, values in zip(truth.T, predicted.T)])
{% endif %}
{% elif p.metric.labels %}
def metric(truth, scores{{ ", weight" if p.weight }}):
    """{{ p.metric.words }}. The class with the largest score is predicted."""
    predicted = scores.argmax(axis=1)
    return {{ p.metric.expression }}
{% else %}
def metric(truth, predicted{{ ", weight" if p.weight }}):
    """{{ p.metric.words }}."""
    return {{ p.metric.expression | replace("len(CLASSES)", "predicted.shape[1]") if p.layout.absent else p.metric.expression }}
{% endif %}
