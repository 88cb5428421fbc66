# === Features: {{ m.title }} ===
def features_{{ m.slug }}(frame):
    """No columns."""
    return frame[[]]
