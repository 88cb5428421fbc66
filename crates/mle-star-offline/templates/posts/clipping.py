# === Postprocessing ===
def postprocess(oof, predicted):
    """Predictions in the target's own unit, within the range seen in training."""
    low, high = y.min(), y.max()
    return np.clip(from_model_scale(oof), low, high), np.clip(from_model_scale(predicted), low, high)
