# === Postprocessing ===
def postprocess(oof, predicted):
    """Predictions shifted so that {{ p.metric.quantile }} of the rows are below; each fold uses the shift of the other folds."""
    missing = to_model_scale({{ p.truth }}) - oof
    shifted = np.zeros_like(oof)
    for fit_rows, valid_rows in {{ p.tuning }}:
        shifted[valid_rows] = oof[valid_rows] + np.quantile(missing[fit_rows], {{ p.metric.quantile }})
    return from_model_scale(shifted), from_model_scale(predicted + np.quantile(missing, {{ p.metric.quantile }}))
