# === Postprocessing ===
def postprocess(oof, predicted):
    """Whole numbers within the range of the training target."""
    low, high = y.min(), y.max()
    whole = lambda values: np.clip(np.rint(from_model_scale(values)), low, high)
    return whole(oof), whole(predicted)
