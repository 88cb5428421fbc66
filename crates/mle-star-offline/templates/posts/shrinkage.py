# === Postprocessing ===
def line(values, truth):
    """Slope and level of the straight line from predictions to truth."""
    slope = np.cov(values, truth)[0, 1] / max(np.var(values, ddof=1), 1e-12)
    return slope, truth.mean() - slope * values.mean()


def postprocess(oof, predicted):
    """Predictions rescaled to the truth; each fold uses the line of the other folds."""
    values, final = from_model_scale(oof), from_model_scale(predicted)
    stretched = np.zeros_like(values)
    for fit_rows, valid_rows in {{ p.tuning }}:
        slope, level = line(values[fit_rows], {{ p.truth }}[fit_rows])
        stretched[valid_rows] = slope * values[valid_rows] + level
    slope, level = line(values, {{ p.truth }})
    return stretched, slope * final + level
