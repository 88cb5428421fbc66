# === Blend ===
from scipy.stats import rankdata


def ranks(values):
    """Ranks within the table, as shares of its rows."""
    return rankdata(values, axis=0) / len(values)


def blend(trained):
    """The mean of ranks, which ignores different scales of probabilities."""
    oof = np.mean([ranks(values) for values, _ in trained.values()], axis=0)
    predicted = np.mean([ranks(values) for _, values in trained.values()], axis=0)
    return oof, predicted


oof, predicted = blend(trained)
