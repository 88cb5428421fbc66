# === Submission ===
{% if p.layout.sample_file %}
submission = pd.read_csv({{ p.layout.sample_file | py }}{{ p.reading }})
{% elif p.id %}
submission = pd.DataFrame({ID: test[ID]})
{% else %}
submission = pd.DataFrame(index=test.index)
{% endif %}
{% if p.layout.by_id %}
# Rows are matched by ID to keep the order of the sample submission.
rows = pd.Series(np.arange(len(test)), index=test[ID]).reindex(submission[ID]).to_numpy()
final = final[rows]
{% endif %}
os.makedirs("./final", exist_ok=True)
submission.assign(**answers(final)).to_csv("./final/submission.csv", index=False)
{% if p.layout.class_scores %}
write_class_scores("submission", {{ "submission[" ~ (p.layout.copied[0] | py) ~ "]" if p.layout.names_rows else "np.arange(len(final))" }}, final)
{% endif %}
