# === Cross-validation ===
{% if p.classification and (p.grouping or not p.stratified) %}
def spread(values, present, share, rest):
    """Probabilities of all classes: those without fitting rows get a small share."""
    spread_out = np.full((len(values), len(CLASSES)), share)
    spread_out[:, present] = rest * np.asarray(values)
    return spread_out


{% endif %}
def out_of_fold(features, encode, fit_predict):
    """Out-of-fold predictions for the training rows, and the mean over folds for the test rows."""
    x_train, x_test = features(train), features(test)
{% if p.classification %}
    oof = np.zeros((len(train), len(CLASSES)))
    predicted = np.zeros((len(test), len(CLASSES)))
{% else %}
    oof = np.zeros(len(train))
    predicted = np.zeros(len(test))
{% endif %}
    for fit_rows, valid_rows in FOLDS:
{% if p.classification %}
{% if p.stratified and not p.grouping %}
        # Every class has fitting rows in every fold.
{% else %}
        # A rare class may be missing in the fitting rows of a fold; it gets the share of half a row then.
{% endif %}
        present, y_fit = np.unique(y[fit_rows], return_inverse=True)
{% if p.grouping or not p.stratified %}
        # If all rows of the other classes are held out, there is nothing to learn.
        if len(present) == 1:
            oof[valid_rows, present] = 1.0
            predicted[:, present] += 1.0 / len(FOLDS)
            continue
{% endif %}
{% else %}
        y_fit = to_model_scale(y[fit_rows])
{% endif %}
        fit, valid, rest = encode(x_train.iloc[fit_rows], y_fit, [x_train.iloc[valid_rows], x_test])
        on_valid, on_test = fit_predict(fit, y_fit, [valid, rest]{{ ", WEIGHTS[fit_rows]" if p.weight }})
{% if p.classification %}
{% if p.grouping or not p.stratified %}
        share = 0.5 / (len(y_fit) + len(CLASSES))
        rest = 1.0 - share * (len(CLASSES) - len(present))
        on_valid, on_test = [spread(values, present, share, rest) for values in (on_valid, on_test)]
        oof[valid_rows] = on_valid
        predicted += on_test / len(FOLDS)
{% else %}
        oof[np.ix_(valid_rows, present)] = on_valid
        predicted[:, present] += on_test / len(FOLDS)
{% endif %}
{% else %}
        oof[valid_rows] = on_valid
        predicted += on_test / len(FOLDS)
{% endif %}
    return oof, predicted
