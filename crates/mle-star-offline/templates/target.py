# === Target ===
{% if scale == "log" %}
def to_model_scale(values):
    """Models learn the logarithm, so that large values do not dominate."""
    return np.log1p(np.maximum(values, 0.0))


def from_model_scale(values):
    """Back to the unit of the target."""
    return np.expm1(np.clip(values, 0.0, 700.0))
{% else %}
def to_model_scale(values):
    """Models learn the target as it is."""
    return values


def from_model_scale(values):
    """Predictions are in the unit of the target already."""
    return values
{% endif %}
