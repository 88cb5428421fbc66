# === Blend ===
def blend(trained):
    """The median of the models' predictions: one model that is far off changes nothing."""
    oof = np.median([values for values, _ in trained.values()], axis=0)
    predicted = np.median([values for _, values in trained.values()], axis=0)
    return oof, predicted


oof, predicted = blend(trained)
