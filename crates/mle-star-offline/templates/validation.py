# === Validation ===
{% if p.layout.absent %}
# Columns of the submission for classes that no training row has.
ABSENT = {{ p.layout.absent | py_list }}


SHARE_OF_ABSENT = 1.0 / (len(train) + 1.0)


def with_absent(values):
    """The probabilities of all classes of the submission: those without rows share that of one row more."""
    absent = np.full((len(values), len(ABSENT)), SHARE_OF_ABSENT / len(ABSENT))
    return np.hstack([values * (1.0 - SHARE_OF_ABSENT), absent])


{% endif %}
def answers(values):
    """The columns of the submission with these predictions."""
{% if p.layout.kind == "label" %}
    return {{ "{" }}{{ p.layout.column | py }}: np.asarray(CLASSES)[values.argmax(axis=1)]}
{% elif p.layout.kind == "guesses" %}
    # The most probable classes, the best first.
    best = np.argsort(-values, axis=1, kind="stable")[:, :{{ p.metric.guesses }}]
    names = np.asarray([str(label) for label in CLASSES])
    return {{ "{" }}{{ p.layout.column | py }}: [" ".join(row) for row in names[best]]}
{% elif p.layout.kind == "bounds" %}
    return {column: values[:, at] for at, column in enumerate({{ p.layout.class_columns | py_list }})}
{% elif p.layout.kind == "probability" %}
    return {{ "{" }}{{ p.layout.column | py }}: values[:, 1]}
{% elif p.layout.kind == "per_class" %}
{% if p.layout.class_labels %}
    positions = {str(label).strip(): position for position, label in enumerate({{ "[*CLASSES, *ABSENT]" if p.layout.absent else "CLASSES" }})}
    return {column: values[:, positions[label]] for column, label in zip({{ p.layout.class_columns | py_list }}, {{ p.layout.class_labels | py_list }})}
{% elif p.layout.class_columns %}
    positions = {{ "{" }}{{ p.layout.prefix | py }} + str(label).strip(): position for position, label in enumerate(CLASSES)}
    return {column: values[:, positions[column]] for column in {{ p.layout.class_columns | py_list }}}
{% else %}
    return {str(label): values[:, position] for position, label in enumerate(CLASSES)}
{% endif %}
{% elif p.layout.kind == "several" and p.classification and p.metric.labels %}
    return {target: np.asarray(LABELS[at])[values[:, at]] for at, target in enumerate(TARGETS)}
{% elif p.layout.kind == "several" %}
    return {target: values[:, at] for at, target in enumerate(TARGETS)}
{% elif p.layout.kind == "per_class_in_order" %}
    return {column: values[:, position] for position, column in enumerate({{ p.layout.class_columns | py_list }})}
{% else %}
    return {{ "{" }}{{ p.layout.column | py }}: values}
{% endif %}


validated, decide = postprocess(oof)
final = decide(predicted)
{% if p.layout.absent %}
validated, final = with_absent(validated), with_absent(final)
{% endif %}
{% if p.time and p.folds_file and p.folds_file.averages %}
def score_of(rows):
    """The score of a period{{ "; NaN if it has none, because its labels are all equal" if p.metric.needs_differences }}."""
{% if p.metric.needs_differences %}
    if len(np.unique({{ p.truth }}[rows])) == 1:
        return np.nan
{% endif %}
    return metric({{ p.truth }}[rows], validated[rows]{{ ", " ~ p.weights ~ "[rows]" if p.weight }})


# The test table is one period, so the score is the mean over the periods.
ends = np.cumsum([len(later) for _, later in FOLDS])
of_periods = np.asarray([score_of(rows) for rows in np.split(positions, ends[:-1])], dtype=float)
for number, value in enumerate(of_periods):
    print(f"Fold {number}: {value}")
scored = of_periods[np.isfinite(of_periods)]
performance = scored.mean() if len(scored) else metric({{ p.truth }}, validated{{ ", " ~ p.weights if p.weight }})
{% else %}
performance = metric({{ p.truth }}, validated{{ ", " ~ p.weights if p.weight }})
{% endif %}
print(f"Final Validation Performance: {performance}")

# The rows behind the score with their predictions, so that it can be computed again.
{% if p.layout.named %}
checked = train{{ ".iloc[VALIDATED]" if p.time }}[{{ p.layout.copied | py_list }}].assign(**answers(validated))
{% else %}
checked = train.assign(**{{ "{" }}{{ p.layout.copied[0] | py }}: ROWS}){{ ".iloc[VALIDATED]" if p.time }}[{{ p.layout.copied | py_list }}].assign(**answers(validated))
{% endif %}
{% if p.layout.order %}
checked = checked[{{ p.layout.order | py_list }}]
{% endif %}
os.makedirs("./final", exist_ok=True)
checked.to_csv("./final/validation_predictions.csv", index=False)
{% if p.layout.class_scores %}


def write_class_scores(name, rows, values):
    """Writes the scores behind the predicted classes, so that solutions can be combined."""
    scores = pd.DataFrame(values.round(6), columns=[str(label) for label in CLASSES])
    scores.insert(0, {{ p.layout.copied[0] | py }}, np.asarray(rows))
    scores.to_csv(f"./final/{name}_class_scores.csv", index=False)


write_class_scores("validation", checked[{{ p.layout.copied[0] | py }}], validated)
{% endif %}
