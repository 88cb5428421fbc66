# === Submission ===
{% if p.layout.sample_file %}
submission = pd.read_csv({{ p.layout.sample_file | py }})
{% elif p.id %}
submission = pd.DataFrame({ID: test[ID]})
{% else %}
submission = pd.DataFrame(index=test.index)
{% endif %}
{% if p.layout.by_id %}
# Rows are matched by id, so that the order of the sample submission is kept.
rows = pd.Series(np.arange(len(test)), index=test[ID]).reindex(submission[ID]).to_numpy()
final = final[rows]
{% endif %}
{% if p.layout.kind == "label" %}
submission[{{ p.layout.column | py }}] = np.asarray(CLASSES)[{{ 'final' if p.metric.labels else 'final.argmax(axis=1)' }}]
{% elif p.layout.kind == "probability" %}
submission[{{ p.layout.column | py }}] = final[:, 1]
{% elif p.layout.kind == "per_class" %}
{% if p.layout.class_columns %}
positions = {{ "{" }}{{ p.layout.prefix | py }} + str(label): position for position, label in enumerate(CLASSES)}
for column in {{ p.layout.class_columns | py_list }}:
    submission[column] = final[:, positions[column]]
{% else %}
for position, label in enumerate(CLASSES):
    submission[str(label)] = final[:, position]
{% endif %}
{% elif p.layout.kind == "per_class_in_order" %}
for position, column in enumerate({{ p.layout.class_columns | py_list }}):
    submission[column] = final[:, position]
{% else %}
submission[{{ p.layout.column | py }}] = final
{% endif %}
os.makedirs("./final", exist_ok=True)
submission.to_csv("./final/submission.csv", index=False)
