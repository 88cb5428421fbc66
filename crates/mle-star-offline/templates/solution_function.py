# === {{ title }} ===
def {{ name }}():
    """{{ words }}"""
{{ body }}
{% if p.classification %}
    return oof, predicted
{% else %}
    return from_model_scale(oof), from_model_scale(predicted)
{% endif %}
