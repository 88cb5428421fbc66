# === Blend ===
def blend(trained):
    """Every model counts the same."""
    oof = np.mean([values for values, _ in trained.values()], axis=0)
    predicted = np.mean([values for _, values in trained.values()], axis=0)
    return oof, predicted


oof, predicted = blend(trained)
