# === History: {{ m.title }} ===
def history_{{ m.slug }}(fit, others, y_fit, fit_rows, other_rows):
    """Both frames with simple forecasts of each row's series, and for each row what the model predicts the distance from."""
    # Trees cannot go beyond the latest time.
    left_out = [{{ (p.time.column ~ ("_days" if p.time.is_date else "")) | py if distance }}]
    # The first of these columns that has a value; without columns, it is the target itself.
    level = [{{ '"forecast"' if distance }}]
    frames = with_forecasts(fit, others, fit_rows, other_rows)
    frames = [frame.drop(columns=left_out, errors="ignore") for frame in frames]
    return frames, levels(frames, level, y_fit)
