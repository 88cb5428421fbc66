# === Postprocessing ===
def best_threshold(probabilities, truth):
    """The share above which the second class is named, by the metric itself."""
    candidates = np.unique(np.quantile(probabilities, np.linspace(0.02, 0.98, 97)))
    scores = [metric(truth, (probabilities >= candidate).astype(int)) for candidate in candidates]
    # The middle of the best stretch is steadier than its edge.
    return float(np.median(candidates[np.asarray(scores) >= max(scores) - 1e-12]))


def postprocess(oof, predicted):
    """Classes by a tuned threshold; every fold is decided with the threshold of the other folds."""
    decided = np.zeros(len(oof), dtype=int)
    for fit_rows, valid_rows in FOLDS:
        threshold = best_threshold(oof[fit_rows, 1], y[fit_rows])
        decided[valid_rows] = oof[valid_rows, 1] >= threshold
    return decided, (predicted[:, 1] >= best_threshold(oof[:, 1], y)).astype(int)
