# === Postprocessing ===
def postprocess(oof, predicted):
    """Predictions in the unit of the target, within the range of the training target."""
    low, high = y.min(), y.max()
    return np.clip(from_model_scale(oof), low, high), np.clip(from_model_scale(predicted), low, high)
