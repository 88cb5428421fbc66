# === Training ===
{% if p.classification %}
trained = {
{% for s in solutions %}
    {{ s.title | py }}: {{ s.name }}(),
{% endfor %}
}
{% else %}
def on_model_scale(solution):
    """The predictions of a solution on the scale that models learn."""
    oof, predicted, predict = solution()
    return to_model_scale(oof), to_model_scale(predicted), lambda rows: to_model_scale(predict(rows))


trained = {
{% for s in solutions %}
    {{ s.title | py }}: on_model_scale({{ s.name }}),
{% endfor %}
}
{% endif %}
