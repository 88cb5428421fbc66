# === Features: {{ m.title }} ===
def features_{{ m.slug }}(frame):
    """No columns: the past of each series says all."""
    return frame[[]]
