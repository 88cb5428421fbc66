# === Blend ===
def geometric(parts):
    """The normalised geometric mean of probabilities, in which confident models count more."""
    product = np.exp(np.mean([np.log(np.clip(part, 1e-6, 1.0)) for part in parts], axis=0))
    return product / product.sum(axis=1, keepdims=True)


def blend(trained):
    """Every model counts the same, on the logarithmic scale."""
    oof = geometric([values for values, _ in trained.values()])
    predicted = geometric([values for _, values in trained.values()])
    return oof, predicted


oof, predicted = blend(trained)
