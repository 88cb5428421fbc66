# === Training ===
{% if members | length == 1 %}
oof, predicted, predict = out_of_fold({{ members[0].functions }})
{% else %}
MEMBERS = {
{% for m in members %}
    {{ m.title | py }}: ({{ m.functions }}),
{% endfor %}
}
trained = {name: out_of_fold(*parts) for name, parts in MEMBERS.items()}
{% endif %}
