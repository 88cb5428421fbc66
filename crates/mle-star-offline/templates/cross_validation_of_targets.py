# === Cross-validation ===
def out_of_fold(features, encode, fit_predict):
    """Predictions for the validated rows and for the test rows, one column for each target."""
    x_train, x_test = features(train), features(test)

    def learnt_from(fit_rows, frames):
        """Predictions for the rows of the frames by models of the fitting rows, one model for each target."""
        columns = [np.zeros((len(frame), len(TARGETS))) for frame in frames]
{% if not p.columns.many_levels %}
        # No column is encoded by means of a target, so all targets share one encoding.
        fit, *others = encode(x_train.iloc[fit_rows], y[fit_rows, 0], frames)
{% endif %}
        for target in range(len(TARGETS)):
{% if p.classification %}
            y_fit = y[fit_rows, target]
            if y_fit.min() == y_fit.max():
                # Without rows of the other class, there is nothing to learn.
                for values in columns:
                    values[:, target] = y_fit[0]
                continue
{% else %}
            y_fit = to_model_scale(y[fit_rows, target])
{% endif %}
{% if p.columns.many_levels %}
            fit, *others = encode(x_train.iloc[fit_rows], y_fit, frames)
{% endif %}
            for values, found in zip(columns, fit_predict(fit, y_fit, others{{ ", WEIGHTS[fit_rows]" if p.weight }})):
                values[:, target] = found{{ "[:, 1]" if p.classification }}
        return columns

{% if p.time %}
    oof = np.concatenate([learnt_from(earlier, [x_train.iloc[later]])[0] for earlier, later in FOLDS])
    # The test rows come next in time, so their models learn from the latest rows too.
    return oof, learnt_from(ORDER, [x_test])[0]
{% else %}
    oof, predicted = np.zeros(y.shape), np.zeros((len(test), len(TARGETS)))
    for fit_rows, valid_rows in FOLDS:
        oof[valid_rows], on_test = learnt_from(fit_rows, [x_train.iloc[valid_rows], x_test])
        predicted += on_test / len(FOLDS)
    return oof, predicted
{% endif %}
