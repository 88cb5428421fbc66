# === Training ===
{% if p.classification %}
trained = {
{% for s in solutions %}
    {{ s.title | py }}: {{ s.name }}(),
{% endfor %}
}
{% else %}
trained = {
{% for s in solutions %}
    {{ s.title | py }}: tuple(to_model_scale(values) for values in {{ s.name }}()),
{% endfor %}
}
{% endif %}
