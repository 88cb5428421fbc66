# === Encoding: {{ m.title }} ===
def encode_{{ m.slug }}(fit, y_fit):
    """Nothing is encoded."""
    return fit, lambda rows: rows
