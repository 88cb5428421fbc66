# === Features: {{ m.title }} ===
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def features_{{ m.slug }}(frame):
    """Columns computed row by row, without learning."""
    x = frame[NUMERIC]{{ '.apply(pd.to_numeric, errors="coerce")' if p.unseen }}.astype(float)
{% if p.huge %}
    # Infinite and huge values count as missing, since single precision cannot hold them.
    x = x.where(x.abs() < 1e19)
{% endif %}
{% if p.columns.categorical and p.columns.many_levels %}
    x[CATEGORICAL + MANY_LEVELS] = frame[CATEGORICAL + MANY_LEVELS].astype("str").fillna("missing")
{% elif p.columns.categorical %}
    x[CATEGORICAL] = frame[CATEGORICAL].astype("str").fillna("missing")
{% elif p.columns.many_levels %}
    x[MANY_LEVELS] = frame[MANY_LEVELS].astype("str").fillna("missing")
{% endif %}
{% if p.columns.dates %}
    for column in DATES:
        moment = {{ moments(p.own_dates, "frame[column]", "column in DAY_FIRST" if p.columns.day_first else "") }}
        x[column + "_days"] = (moment - pd.Timestamp("2000-01-01", tz="UTC")) / pd.Timedelta(days=1)
        x[column + "_month"] = moment.dt.month.astype(float)
        x[column + "_weekday"] = moment.dt.day_of_week.astype(float)
{% if p.columns.with_hours %}
        if column in WITH_HOURS:
            x[column + "_hour"] = moment.dt.hour + moment.dt.minute / 60
{% endif %}
{% endif %}
{% if p.columns.texts %}
    texts = frame[TEXTS].astype("object").fillna("").astype("str")
    x["all_text"] = [" ".join(parts) for parts in texts.to_numpy()]
    x["terms"] = terms_of(x["all_text"], {{ 2 if t.pairs else 1 }})
{% endif %}
    return x
