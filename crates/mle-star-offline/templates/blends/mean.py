# === Blend ===
def blend(parts):
    """The combined out-of-fold predictions, and what combines others: every model counts the same."""
    combined = lambda values: np.mean(values, axis=0)
    return combined(parts), combined


oof, combined = blend([values for values, _, _ in trained.values()])
predicted = combined([values for _, values, _ in trained.values()])
parts = [part for _, _, part in trained.values()]
predict = lambda rows: combined([part(rows) for part in parts])
