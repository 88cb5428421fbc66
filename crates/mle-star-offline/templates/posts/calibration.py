# === Postprocessing ===
from sklearn.linear_model import LogisticRegression


def log_shares(probabilities):
    """Logarithms of probabilities kept away from 0."""
    return np.log(np.clip(probabilities, 1e-6, 1.0))


def postprocess(oof, predicted):
    """Probabilities calibrated by a logistic fit; each fold uses the fit of the other folds."""
    level, calibrated = log_shares(oof), np.full_like(oof, 1e-6)
    for fit_rows, valid_rows in {{ p.tuning }}:
        curve = LogisticRegression(C=1.0, max_iter=3000).fit(level[fit_rows], {{ p.truth }}[fit_rows])
        calibrated[np.ix_(valid_rows, curve.classes_)] = curve.predict_proba(level[valid_rows])
    curve = LogisticRegression(C=1.0, max_iter=3000).fit(level, {{ p.truth }})
    final = np.full_like(predicted, 1e-6)
    final[:, curve.classes_] = np.clip(curve.predict_proba(log_shares(predicted)), 1e-6, 1.0)
    return calibrated / calibrated.sum(axis=1, keepdims=True), final / final.sum(axis=1, keepdims=True)
