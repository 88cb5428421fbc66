# === Postprocessing ===
def closeness(values, cuts):
    """Scores of the classes: the closest one's is the largest, where the cuts are in the middle between classes."""
    middles = np.arange(len(cuts)) + 0.5
    moved = values + np.interp(values, cuts, middles - cuts)
    return -np.square(moved[:, None] - np.arange(len(CLASSES)))


def best_cuts(values, truth{{ ", weight" if p.weight }}):
    """Limits between neighbouring classes, moved one after another while the metric improves."""
    cuts = np.arange(len(CLASSES) - 1) + 0.5
    score = lambda limits: metric(truth, closeness(values, np.sort(limits)){{ ", weight" if p.weight }})
    for width in (0.2, 0.1, 0.05):
        for position in range(len(cuts)):
            trials = [cuts + np.where(np.arange(len(cuts)) == position, step, 0.0) for step in (0.0, -width, width)]
            cuts = max(trials, key=score)
    return np.sort(cuts)


def postprocess(oof):
    """Scores of the classes by tuned limits, and what finds those of others; each fold uses the limits of the other folds."""
    ranks = np.arange(len(CLASSES))
    expected = oof @ ranks
    decided = np.zeros_like(oof)
    for fit_rows, valid_rows in {{ p.tuning }}:
        decided[valid_rows] = closeness(expected[valid_rows], best_cuts(expected[fit_rows], {{ p.truth }}[fit_rows]{{ ", " ~ p.weights ~ "[fit_rows]" if p.weight }}))
    cuts = best_cuts(expected, {{ p.truth }}{{ ", " ~ p.weights if p.weight }})
    return decided, lambda values: closeness(values @ ranks, cuts)
