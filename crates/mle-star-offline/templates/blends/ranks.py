# === Blend ===
from scipy.stats import rankdata


def ranks(values):
    """Ranks within the table, as shares of its rows: only the order of rows counts."""
    return rankdata(values, axis=0) / len(values)


def blend(trained):
    """The mean of ranks: models with other scales of probability count the same."""
    oof = np.mean([ranks(values) for values, _ in trained.values()], axis=0)
    predicted = np.mean([ranks(values) for _, values in trained.values()], axis=0)
    return oof, predicted


oof, predicted = blend(trained)
