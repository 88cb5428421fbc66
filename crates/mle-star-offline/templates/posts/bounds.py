# === Postprocessing ===
def with_bounds(values, missing):
    """The lower and the upper bound by the quantiles of what predictions miss."""
    bounds = np.quantile(missing, {{ p.metric.bounds }})
    return from_model_scale(values[:, None] + bounds)


def postprocess(oof):
    """Bounds around the predictions, and what finds those of others; each fold uses the errors of the other folds."""
    missing = to_model_scale({{ p.truth }}) - oof
    bounds = np.zeros((len(oof), 2))
    for fit_rows, valid_rows in {{ p.tuning }}:
        bounds[valid_rows] = with_bounds(oof[valid_rows], missing[fit_rows])
    limits = np.quantile(missing, {{ p.metric.bounds }})
    return bounds, lambda values: from_model_scale(values[:, None] + limits)
