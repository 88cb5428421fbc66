# === Training ===
{% if members | length == 1 %}
oof, predicted = out_of_fold(features_{{ members[0].slug }}, encode_{{ members[0].slug }}, fit_predict_{{ members[0].slug }})
{% else %}
MEMBERS = {
{% for m in members %}
    {{ m.title | py }}: (features_{{ m.slug }}, encode_{{ m.slug }}, fit_predict_{{ m.slug }}),
{% endfor %}
}
trained = {name: out_of_fold(*parts) for name, parts in MEMBERS.items()}
{% endif %}
