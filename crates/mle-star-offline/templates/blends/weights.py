# === Blend ===
def fitted_weights(parts, rows):
    """Weights by greedy selection with replacement: each round adds the part that lowers the error most."""
    counts = np.zeros(len(parts))
    total = np.zeros_like(parts[0][rows])
    for step in range(1, 26):
        errors = [blend_error((total + part[rows]) / step, rows) for part in parts]
        chosen = int(np.argmin(errors))
        counts[chosen] += 1
        total += parts[chosen][rows]
    return counts / counts.sum()


{% set of_row = ".mean(axis=1)" if p.several and p.weight else "" %}
def blend_error(values, rows):
{% if p.classification %}
    """Logarithmic loss of class probabilities."""
    return -{{ "np.average" if p.weight else "np.mean" }}(np.log(np.clip(values[np.arange(len(rows)), {{ p.truth }}[rows]], 1e-9, 1.0)){{ ", weights=" ~ p.weights ~ "[rows]" if p.weight }})
{% elif p.metric.quantile %}
    """Pinball loss on the model scale."""
    missing = to_model_scale({{ p.truth }}[rows]) - values
    loss = np.maximum({{ p.metric.quantile }} * missing, ({{ p.metric.quantile }} - 1.0) * missing)
    return {{ "np.average" if p.weight else "np.mean" }}(loss{{ of_row }}{{ ", weights=" ~ p.weights ~ "[rows]" if p.weight }})
{% elif p.metric.absolute %}
    """Mean absolute error on the model scale."""
    return {{ "np.average" if p.weight else "np.mean" }}(np.abs(values - to_model_scale({{ p.truth }}[rows])){{ of_row }}{{ ", weights=" ~ p.weights ~ "[rows]" if p.weight }})
{% else %}
    """Mean squared error on the model scale."""
    return {{ "np.average" if p.weight else "np.mean" }}(np.square(values - to_model_scale({{ p.truth }}[rows])){{ of_row }}{{ ", weights=" ~ p.weights ~ "[rows]" if p.weight }})
{% endif %}


def blend(parts):
    """The combined out-of-fold predictions, and what combines others: fitted weights; each fold uses those of the other folds."""
    oof = np.zeros_like(parts[0])
    for fit_rows, valid_rows in {{ p.tuning }}:
        weights = fitted_weights(parts, fit_rows)
        oof[valid_rows] = sum(weight * part[valid_rows] for weight, part in zip(weights, parts))
    weights = fitted_weights(parts, np.arange(len(oof)))
    return oof, lambda values: sum(weight * part for weight, part in zip(weights, values))


oof, combined = blend([values for values, _, _ in trained.values()])
predicted = combined([values for _, values, _ in trained.values()])
parts = [part for _, _, part in trained.values()]
predict = lambda rows: combined([part(rows) for part in parts])
