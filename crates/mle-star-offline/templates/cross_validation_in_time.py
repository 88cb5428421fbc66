# === Cross-validation ===
def out_of_fold(features, encode, fit_predict{{ ", history=None" if past }}):
    """Predictions for the validated rows, each from earlier rows, and for the test rows, from all rows."""
    x_train, x_test = features(train), features(test)

    def learnt_from(fit_rows, frame{{ ", rows" if past }}):
        """Predictions for the rows of the frame{{ ", numbered as in `CLOCK`," if past }} by a model of the fitting rows."""
        fit = x_train.iloc[fit_rows]
{% if p.classification %}
{% if past %}
        if history:
            fit, frame = history(fit, frame, y[fit_rows].astype(float), fit_rows, rows)
{% endif %}
        # A class may be missing in the fitting rows; its probability is 0 then.
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
        values = np.zeros((len(frame), len(CLASSES)))
        if len(present) == 1:
            values[:, present] = 1.0
            return values
        fit, others = encode(fit, y_fit, [frame])
        values[:, present] = fit_predict(fit, y_fit, [others]{{ ", WEIGHTS[fit_rows]" if p.weight }})[0]
        return values
{% elif past %}
        y_fit, level = to_model_scale(y[fit_rows]), 0.0
        if history:
            (fit, frame), (fitted_level, level) = history(fit, frame, y_fit, fit_rows, rows)
            # Nobody knows the distance of rows that have no level.
            known = np.isfinite(fitted_level)
            fit_rows, fit, y_fit = fit_rows[known], fit[known], (y_fit - fitted_level)[known]
        fit, others = encode(fit, y_fit, [frame])
        return level + np.asarray(fit_predict(fit, y_fit, [others]{{ ", WEIGHTS[fit_rows]" if p.weight }})[0], dtype=float)
{% else %}
        y_fit = to_model_scale(y[fit_rows])
        fit, others = encode(fit, y_fit, [frame])
        return np.asarray(fit_predict(fit, y_fit, [others]{{ ", WEIGHTS[fit_rows]" if p.weight }})[0], dtype=float)
{% endif %}

    oof = np.concatenate([learnt_from(earlier, x_train.iloc[later]{{ ", later" if past }}) for earlier, later in FOLDS])
    # The test rows come next in time, so their model learns from the latest rows too.
    return oof, learnt_from(ORDER, x_test{{ ", len(train) + np.arange(len(test))" if past }})
