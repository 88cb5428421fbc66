# === Blend ===
def geometric(parts):
    """The geometric mean of probabilities, made to add up to one: a confident no outweighs a vague yes."""
    product = np.exp(np.mean([np.log(np.clip(part, 1e-6, 1.0)) for part in parts], axis=0))
    return product / product.sum(axis=1, keepdims=True)


def blend(trained):
    """Every model counts the same, on the logarithmic scale."""
    oof = geometric([values for values, _ in trained.values()])
    predicted = geometric([values for _, values in trained.values()])
    return oof, predicted


oof, predicted = blend(trained)
