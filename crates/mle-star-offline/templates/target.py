# === Target ===
{% if scale == "log" %}
def to_model_scale(values):
    """Models learn the logarithm: relative errors count, and large values do not dominate."""
    return np.log1p(np.maximum(values, 0.0))


def from_model_scale(values):
    """Back to the target's own unit."""
    return np.expm1(np.clip(values, 0.0, 700.0))
{% elif scale == "root" %}
def to_model_scale(values):
    """Models learn the square root: large values weigh less than on the plain scale."""
    return np.sqrt(np.maximum(values, 0.0))


def from_model_scale(values):
    """Back to the target's own unit."""
    return np.square(np.maximum(values, 0.0))
{% elif scale == "arcsinh" %}
def to_model_scale(values):
    """Models learn the inverse hyperbolic sine: a logarithm that accepts both signs."""
    return np.arcsinh(values)


def from_model_scale(values):
    """Back to the target's own unit."""
    return np.sinh(np.clip(values, -700.0, 700.0))
{% else %}
def to_model_scale(values):
    """Models learn the target as it is."""
    return values


def from_model_scale(values):
    """Predictions are in the target's own unit already."""
    return values
{% endif %}
