# === Model: {{ m.title }} ===
def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """The distance from the forecast of each series: none."""
    return lambda rows: np.zeros(len(rows))
