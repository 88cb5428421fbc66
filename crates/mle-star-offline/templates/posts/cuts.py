# === Postprocessing ===
def best_cuts(values, truth):
    """Limits between neighbouring classes, moved one after another while the metric improves."""
    cuts = np.arange(len(CLASSES) - 1) + 0.5
    score = lambda limits: metric(truth, np.digitize(values, np.sort(limits)))
    for width in (0.2, 0.1, 0.05):
        for position in range(len(cuts)):
            trials = [cuts + np.where(np.arange(len(cuts)) == position, step, 0.0) for step in (0.0, -width, width)]
            cuts = max(trials, key=score)
    return np.sort(cuts)


def postprocess(oof, predicted):
    """The expected class, cut at tuned limits; each fold uses the limits of the other folds."""
    ranks = np.arange(len(CLASSES))
    expected, expected_final = oof @ ranks, predicted @ ranks
    decided = np.zeros(len(oof), dtype=int)
    for fit_rows, valid_rows in {{ p.tuning }}:
        decided[valid_rows] = np.digitize(expected[valid_rows], best_cuts(expected[fit_rows], {{ p.truth }}[fit_rows]))
    return decided, np.digitize(expected_final, best_cuts(expected, {{ p.truth }}))
