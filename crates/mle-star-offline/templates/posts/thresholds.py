# === Postprocessing ===
def best_threshold(probabilities, truth):
    """The probability threshold of the second class with the best metric."""
    candidates = np.unique(np.quantile(probabilities, np.linspace(0.02, 0.98, 97)))
    scores = [metric(truth, (probabilities >= candidate).astype(int)) for candidate in candidates]
    # The middle of the best interval is more robust than its edge.
    return float(np.median(candidates[np.asarray(scores) >= max(scores) - 1e-12]))


def postprocess(oof, predicted):
    """Classes by a tuned threshold; each fold uses the threshold of the other folds."""
    decided = np.zeros(len(oof), dtype=int)
    for fit_rows, valid_rows in {{ p.tuning }}:
        threshold = best_threshold(oof[fit_rows, 1], {{ p.truth }}[fit_rows])
        decided[valid_rows] = oof[valid_rows, 1] >= threshold
    return decided, (predicted[:, 1] >= best_threshold(oof[:, 1], {{ p.truth }})).astype(int)
