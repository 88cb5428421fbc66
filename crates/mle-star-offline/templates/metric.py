# === Metric ===
{{ p.metric.import }}


def metric(truth, predicted):
    """{{ p.metric.words }}."""
    return {{ p.metric.expression }}
