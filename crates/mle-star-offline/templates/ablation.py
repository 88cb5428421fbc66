# === Ablation ===
def score_of(trained_parts, decide=postprocess):
    """The metric with the predictions of these models."""
{% if single %}
    ((values, _, _),) = trained_parts.values()
{% else %}
    values, _ = blend([values for values, _, _ in trained_parts.values()])
{% endif %}
    return metric({{ p.truth }}, decide(values)[0]{{ ", " ~ p.weights if p.weight }})


def show(part, change, result):
    """Prints the effect of disabling each part, one line each."""
    print(f"Without {part} ({change}): {result:.6f} | baseline {baseline:.6f} | difference {result - baseline:+.6f}")


{% if single %}
trained = {{ "{" }}{{ members[0].title | py }}: (oof, predicted, predict)}
{% endif %}
baseline = score_of(trained)
print(f"Baseline: {baseline:.6f}")
{% for part in parts %}

{% if part.kind == "Features" %}
def fewer_{{ part.slug }}(frame):
    """The columns of the model without derived ones, or without half of them."""
    x = features_{{ part.slug }}(frame)
    given = {{ given }}
    if all(name in given for name in x.columns):
        x[NUMERIC[::2]] = 0.0
        return x
    return x[[name for name in x.columns if name in given]]


changed = dict(trained)
changed[{{ part.title | py }}] = out_of_fold(fewer_{{ part.slug }}, encode_{{ part.slug }}, fit_{{ part.slug }}{{ part.history }})
show({{ part.heading | py }}, "derived columns, or half of the given ones, left out", score_of(changed))
{% elif part.kind == "Encoding" %}
def shuffled(frame):
    """A frame with shuffled categories and texts."""
    frame = frame.copy()
    for column in frame.select_dtypes(exclude="number").columns:
        frame[column] = np.random.default_rng(SEED).permutation(frame[column].to_numpy())
    return frame


def shuffled_{{ part.slug }}(fit, y_fit):
    """The same encoding with shuffled categories and texts."""
    matrix, encoded = encode_{{ part.slug }}(shuffled(fit), y_fit)
    return matrix, lambda rows: encoded(shuffled(rows))


changed = dict(trained)
changed[{{ part.title | py }}] = out_of_fold(features_{{ part.slug }}, shuffled_{{ part.slug }}, fit_{{ part.slug }}{{ part.history }})
show({{ part.heading | py }}, "categories and texts shuffled", score_of(changed))
{% elif part.kind == "Model" %}
tuned = PARAMS_{{ part.slug | upper }}
PARAMS_{{ part.slug | upper }} = {{ part.defaults }}
changed = dict(trained)
changed[{{ part.title | py }}] = out_of_fold(features_{{ part.slug }}, encode_{{ part.slug }}, fit_{{ part.slug }}{{ part.history }})
PARAMS_{{ part.slug | upper }} = tuned
show({{ part.heading | py }}, "the library's own defaults", score_of(changed))
{% elif part.kind == "Blend" %}
for name, (values, _, _) in trained.items():
    show("Blend", name + " alone", metric({{ p.truth }}, postprocess(values)[0]{{ ", " ~ p.weights if p.weight }}))
{% elif part.kind == "Target" %}
own_scale = to_model_scale, from_model_scale


def to_model_scale(values):
    """The other scale: {{ "plain" if part.scale == "log" else "logarithmic" }}."""
    return {{ "values" if part.scale == "log" else "np.log1p(np.maximum(values, 0.0))" }}


def from_model_scale(values):
    """Back to the unit of the target."""
    return {{ "values" if part.scale == "log" else "np.expm1(np.clip(values, 0.0, 700.0))" }}


changed = {name: out_of_fold(*parts) for name, parts in {{ part.members }}.items()}
show("Target", "models learn on {{ "the plain" if part.scale == "log" else "a logarithmic" }} scale", score_of(changed))
to_model_scale, from_model_scale = own_scale
{% elif part.kind == "History" %}
changed = dict(trained)
changed[{{ part.title | py }}] = out_of_fold(features_{{ part.slug }}, encode_{{ part.slug }}, fit_{{ part.slug }})
show({{ part.heading | py }}, "no columns of earlier targets", score_of(changed))
{% elif part.kind == "Postprocessing" %}
def other_rule(values):
    """{{ part.words }}."""
{% if p.metric.bounds %}
    return from_model_scale(values[:, None] + 1.3 * np.quantile(to_model_scale({{ p.truth }}) - values, {{ p.metric.bounds }})), None
{% elif not p.classification %}
    values = from_model_scale(values)
    return 0.95 * values + 0.05 * values.mean(axis=0), None
{% elif p.several and p.metric.labels %}
    return (values >= values.mean(axis=0)).astype(int), None
{% elif p.several %}
    return np.clip(values, 1e-6, 1.0 - 1e-6) ** 1.3, None
{% elif p.metric.labels %}
    return values / np.maximum(values.mean(axis=0), 1e-6), None
{% else %}
    sharper = np.clip(values, 1e-6, 1.0) ** 1.3
    return sharper / sharper.sum(axis=1, keepdims=True), None
{% endif %}


show("Postprocessing", "{{ part.change }}", score_of(trained, other_rule))
{% endif %}
{% endfor %}
