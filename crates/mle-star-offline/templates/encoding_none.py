# === Encoding: {{ m.title }} ===
def encode_{{ m.slug }}(fit, y_fit, others):
    """Nothing is encoded."""
    return [fit, *others]
