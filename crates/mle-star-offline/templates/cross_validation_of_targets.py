# === Cross-validation ===
def out_of_fold(features, encode, fit):
    """Predictions for the validated and for the test rows, one column for each target, and what finds those of other rows."""
    x_train, x_test = features(train), features(test)

    def learnt_from(fit_rows):
        """What models of the fitting rows, one for each target, predict for others."""
        models = []
{% if not p.columns.many_levels %}
        # No column is encoded by means of a target, so all targets share one encoding.
        matrix, encoded = encode(x_train.iloc[fit_rows], y[fit_rows, 0])
{% endif %}
        for target in range(len(TARGETS)):
{% if p.classification %}
            y_fit = y[fit_rows, target]
            if y_fit.min() == y_fit.max():
                # Without rows of the other class, there is nothing to learn.
                models.append(({{ "None" if p.columns.many_levels else "encoded" }}, float(y_fit[0])))
                continue
{% else %}
            y_fit = to_model_scale(y[fit_rows, target])
{% endif %}
{% if p.columns.many_levels %}
            matrix, encoded = encode(x_train.iloc[fit_rows], y_fit)
{% endif %}
            models.append((encoded, fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})))

        def predict(rows):
            values = np.zeros((len(rows), len(TARGETS)))
{% if not p.columns.many_levels %}
            x = models[0][0](rows)
{% endif %}
            for target, (encoded, model) in enumerate(models):
{% if p.columns.many_levels %}
                x = encoded(rows) if callable(model) else None
{% endif %}
                values[:, target] = model(x){{ "[:, 1]" if p.classification }} if callable(model) else model
            return values

        return predict

{% if p.time %}
    oof = np.concatenate([learnt_from(earlier)(x_train.iloc[later]) for earlier, later in FOLDS])
    # The test rows come next in time, so their models learn from the latest rows too.
    latest = learnt_from(ORDER)
    return oof, latest(x_test), lambda rows: latest(features(rows))
{% else %}
    oof, predicted, models = np.zeros(y.shape), np.zeros((len(test), len(TARGETS))), []
{% include "fold_models" %}
{% endif %}
