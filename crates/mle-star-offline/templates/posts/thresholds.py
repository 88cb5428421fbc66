# === Postprocessing ===
def at_threshold(probabilities, threshold):
    """Scores of both classes: the second one's is larger above the threshold."""
    scores = np.column_stack([(1.0 - probabilities) * threshold, probabilities * (1.0 - threshold)])
    return scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-12)


def best_threshold(probabilities, truth{{ ", weight" if p.weight }}):
    """The probability threshold of the second class with the best metric."""
    # Closer at both ends, since the class to find may be one row in a thousand.
    rare = np.geomspace(1e-4, 0.02, 16)
    shares = np.concatenate([rare, np.linspace(0.03, 0.97, 48), 1.0 - rare])
    candidates = np.unique([0.5, *np.quantile(probabilities, shares)])
    scores = [metric(truth, at_threshold(probabilities, candidate){{ ", weight" if p.weight }}) for candidate in candidates]
    # The middle of the best interval is more robust than its edge.
    return float(np.median(candidates[np.asarray(scores) >= max(scores) - 1e-12]))


def postprocess(oof):
    """Scores of the classes by a tuned threshold, and what finds those of others; each fold uses the threshold of the other folds."""
    decided = np.zeros_like(oof)
    for fit_rows, valid_rows in {{ p.tuning }}:
        threshold = best_threshold(oof[fit_rows, 1], {{ p.truth }}[fit_rows]{{ ", " ~ p.weights ~ "[fit_rows]" if p.weight }})
        decided[valid_rows] = at_threshold(oof[valid_rows, 1], threshold)
    best = best_threshold(oof[:, 1], {{ p.truth }}{{ ", " ~ p.weights if p.weight }})
    return decided, lambda values: at_threshold(values[:, 1], best)
