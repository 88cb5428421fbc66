# === Cross-validation ===
{% if p.classification and p.spreads %}
def spread(values, present, share, rest):
    """Probabilities of all classes: those without fitting rows get a small share."""
    spread_out = np.full((len(values), len(CLASSES)), share)
    spread_out[:, present] = rest * np.asarray(values)
    return spread_out


{% endif %}
def out_of_fold(features, encode, fit):
    """Out-of-fold predictions for the training rows, the mean over folds for the test rows, and what finds that for others."""
    x_train, x_test = features(train), features(test)

    def learnt_from(fit_rows):
        """What a model of the fitting rows predicts for others."""
{% if p.classification %}
{% if p.spreads %}
        # A rare class may be missing in the fitting rows of a fold; it gets the share of half a row then.
{% else %}
        # Every class has fitting rows in every fold.
{% endif %}
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
{% else %}
        y_fit = to_model_scale(y[fit_rows])
{% endif %}
{% if p.classification and p.spreads %}
        # If all rows of the other classes are held out, there is nothing to learn.
        if len(present) > 1:
            matrix, encoded = encode(x_train.iloc[fit_rows], y_fit)
            predict = fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})
        share = 0.5 / (len(y_fit) + len(CLASSES)) if len(present) > 1 else 0.0
        rest = 1.0 - share * (len(CLASSES) - len(present))

        def shares(rows):
            known = predict(encoded(rows)) if len(present) > 1 else np.ones((len(rows), 1))
            return spread(known, present, share, rest)

        return shares
{% else %}
        matrix, encoded = encode(x_train.iloc[fit_rows], y_fit)
        predict = fit(matrix, y_fit{{ ", WEIGHTS[fit_rows]" if p.weight }})
        return lambda rows: predict(encoded(rows))
{% endif %}

    oof = np.zeros({{ "(len(train), len(CLASSES))" if p.classification else "len(train)" }})
    predicted = np.zeros({{ "(len(test), len(CLASSES))" if p.classification else "len(test)" }})
    models = []
{% include "fold_models" %}
