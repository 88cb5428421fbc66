# === Postprocessing ===
def postprocess(oof):
    """Predictions shifted so that {{ p.metric.quantile }} of the rows are below, and what shifts others; each fold uses the shift of the other folds."""
    missing = to_model_scale({{ p.truth }}) - oof
    shifted = np.zeros_like(oof)
    for fit_rows, valid_rows in {{ p.tuning }}:
        shifted[valid_rows] = oof[valid_rows] + np.quantile(missing[fit_rows], {{ p.metric.quantile }})
    shift = np.quantile(missing, {{ p.metric.quantile }})
    return from_model_scale(shifted), lambda values: from_model_scale(values + shift)
