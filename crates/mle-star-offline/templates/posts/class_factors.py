# === Postprocessing ===
def class_factors(probabilities, truth{{ ", weight" if p.weight }}):
    """One factor per class, tuned one after another by the metric, starting from balanced classes."""
    balanced = 1.0 / np.maximum(probabilities.mean(axis=0), 1e-6)
    starts = [np.ones(len(CLASSES)), np.sqrt(balanced), balanced]
    score = lambda factors: metric(truth, probabilities * factors{{ ", weight" if p.weight }})
    factors = max(starts, key=score)
    for position in range(len(CLASSES)):
        trials = [factors * np.where(np.arange(len(CLASSES)) == position, step, 1.0) for step in (1.0, 0.7, 0.85, 1.2, 1.4)]
        factors = max(trials, key=score)
    return factors


def postprocess(oof):
    """Scores of the classes by tuned factors, and what finds those of others; each fold uses the factors of the other folds."""
    shares = lambda values: values / np.maximum(values.sum(axis=1, keepdims=True), 1e-12)
    decided = np.zeros_like(oof)
    for fit_rows, valid_rows in {{ p.tuning }}:
        decided[valid_rows] = oof[valid_rows] * class_factors(oof[fit_rows], {{ p.truth }}[fit_rows]{{ ", " ~ p.weights ~ "[fit_rows]" if p.weight }})
    factors = class_factors(oof, {{ p.truth }}{{ ", " ~ p.weights if p.weight }})
    return shares(decided), lambda values: shares(values * factors)
