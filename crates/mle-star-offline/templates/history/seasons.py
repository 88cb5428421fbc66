# === History: {{ m.title }} ===
def history_{{ m.slug }}(fit, others, y_fit, fit_rows, other_rows):
    """Both frames with simple forecasts of each row's series, and for each row their weighted mean."""
    frames = with_forecasts(fit, others, fit_rows, other_rows)
    return frames, levels(frames, ["forecast"], y_fit)
