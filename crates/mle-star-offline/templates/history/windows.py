# === History: {{ m.title }} ===
def history_{{ m.slug }}(fit, others, y_fit, fit_rows, other_rows):
    """Both frames with columns of earlier targets, and for each row what the model predicts the distance from."""
    # How far they look back, in lengths of the period to predict; without windows there are no columns.
    windows = [0.25, 1.0, 4.0]
    # Trees cannot go beyond the latest time, so time itself is left out.
    left_out = [{{ (p.time.column ~ ("_days" if p.time.is_date else "")) | py }}]
{% if not p.classification %}
    # The first of these columns that has a value; without columns, it is the target itself.
    level = []
{% endif %}
    frames = with_windows(fit, others, y_fit, fit_rows, other_rows, windows)
{% if p.classification %}
    return [frame.drop(columns=left_out, errors="ignore") for frame in frames]
{% else %}
    frames = [frame.drop(columns=left_out, errors="ignore") for frame in frames]
    return frames, levels(frames, level, y_fit)
{% endif %}
