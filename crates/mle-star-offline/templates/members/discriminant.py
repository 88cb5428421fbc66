# === Model: {{ m.title }} ===
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import StratifiedKFold

# The shrinkage is estimated, since few rows of a class say little about how columns go together.
PARAMS_{{ m.slug | upper }} = {
    "solver": "lsqr",
    "shrinkage": "auto",
}


def softened(logarithms, power):
    """Probabilities to this power, as shares."""
    shares = np.exp(power * (logarithms - logarithms.max(axis=1, keepdims=True)))
    return shares / shares.sum(axis=1, keepdims=True)


def fit_{{ m.slug }}(x, y_fit{{ ", weight" if p.weight }}):
    """Class probabilities; the result is what predicts other rows."""

    def fitted(rows):
        return LinearDiscriminantAnalysis(**PARAMS_{{ m.slug | upper }}).fit(x[rows], y_fit[rows])

    # The model is too sure of its classes. Other fitting rows say how much.
    power, smallest = 0.5, np.bincount(y_fit).min()
    if smallest > 1:
        known = np.zeros((len(y_fit), y_fit.max() + 1))
        for fit, rest in StratifiedKFold(min(3, smallest), shuffle=True, random_state=SEED).split(x, y_fit):
            known[rest] = fitted(fit).predict_log_proba(x[rest])
        hit = lambda power: softened(known, power)[np.arange(len(y_fit)), y_fit]
        power = max(np.geomspace(0.05, 1.5, 30), key=lambda power: np.log(np.maximum(hit(power), 1e-12)).mean())
    of_all = fitted(np.arange(len(y_fit)))
    return lambda rows: softened(of_all.predict_log_proba(rows), power)
