# === {{ title }} ===
def {{ name }}():
    """{{ words }}"""
{{ body }}
{% if p.classification %}
    return oof, predicted, predict
{% else %}
    return from_model_scale(oof), from_model_scale(predicted), lambda rows: from_model_scale(predict(rows))
{% endif %}
