# === Cross-validation ===
def out_of_fold(features, encode, fit{{ ", history=None" if past }}):
    """Predictions for the validated rows, each from earlier rows, for the test rows, from all rows, and what finds these for others."""
    x_train, x_test = features(train), features(test)

{% if past %}
    def learnt_from(fit_rows, frame, rows):
        """Predictions for the rows of the frame, numbered as in `CLOCK`, by a model of the fitting rows."""
        known = x_train.iloc[fit_rows]
{% if p.classification %}
        if history:
            known, frame = history(known, frame, y[fit_rows].astype(float), fit_rows, rows)
        # A class may be missing in the fitting rows; its probability is 0 then.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        values = np.zeros((len(frame), len(CLASSES)))
        if len(present) == 1:
            values[:, present] = 1.0
            return values
        matrix, encoded = encode(known, y_fit)
        values[:, present] = fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})(encoded(frame))
        return values
{% else %}
        y_fit, level = to_model_scale(y[fit_rows]), 0.0
        if history:
            (known, frame), (fitted_level, level) = history(known, frame, y_fit, fit_rows, rows)
            # Nobody knows the distance of rows that have no level.
            has_level = np.isfinite(fitted_level)
            fit_rows, known, y_fit = fit_rows[has_level], known[has_level], (y_fit - fitted_level)[has_level]
        matrix, encoded = encode(known, y_fit)
        return level + np.asarray(fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})(encoded(frame)), dtype=float)
{% endif %}

    oof = np.concatenate([learnt_from(earlier, x_train.iloc[later], later) for earlier, later in FOLDS])
    # The test rows come next in time, so their model learns from the latest rows too. The series of other rows are not known.
    return oof, learnt_from(ORDER, x_test, len(train) + np.arange(len(test))), None
{% else %}
    def learnt_from(fit_rows):
        """What a model of the fitting rows predicts for others."""
{% if p.classification %}
        # A class may be missing in the fitting rows; its probability is 0 then.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        if len(present) > 1:
            matrix, encoded = encode(x_train.iloc[fit_rows], y_fit)
            predict = fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})

        def shares(rows):
            values = np.zeros((len(rows), len(CLASSES)))
            values[:, present] = predict(encoded(rows)) if len(present) > 1 else 1.0
            return values

        return shares
{% else %}
        y_fit = to_model_scale(y[fit_rows])
        matrix, encoded = encode(x_train.iloc[fit_rows], y_fit)
        predict = fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})
        return lambda rows: np.asarray(predict(encoded(rows)), dtype=float)
{% endif %}

    oof = np.concatenate([learnt_from(earlier)(x_train.iloc[later]) for earlier, later in FOLDS])
    # The test rows come next in time, so their model learns from the latest rows too.
    latest = learnt_from(ORDER)
    return oof, latest(x_test), lambda rows: latest(features(rows))
{% endif %}
