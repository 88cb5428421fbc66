# === Levels ===
def levels(frames, columns, y_fit):
    """For the rows of each frame, the first of these columns that has a value; zeros without columns."""
    columns = [column for column in columns if column in frames[0]]
    if not columns:
        return [np.zeros(len(frame)) for frame in frames]
    found = [frame[columns].bfill(axis=1).iloc[:, 0].to_numpy(dtype=float) for frame in frames]
    # If no fitted row has a value, the rows to predict are as far from theirs as the fitted rows are from their mean.
    if not np.isfinite(found[0]).any():
        found[0] = np.full(len(frames[0]), np.mean(y_fit))
    return [found[0], np.where(np.isfinite(found[1]), found[1], np.mean(y_fit))]
