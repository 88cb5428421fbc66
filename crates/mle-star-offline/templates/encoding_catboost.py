# === Encoding: {{ m.title }} ===
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit):
    """The frame of the fitting rows, and what makes one of other rows. CatBoost encodes categories itself."""
    left_out = [{{ '"all_text", "terms"' if p.columns.texts }}]
{% if p.pair %}
    both = ["means of both categories", "factors of both categories"]
    values, values_of = pair_factors(fit, y_fit)
    factors = pd.DataFrame(values, columns=both, index=fit.index)
    factors_of = lambda rows: pd.DataFrame(values_of(rows), columns=both, index=rows.index)
{% endif %}
{% if p.columns.texts %}
    of_texts, of_other_texts = topics(fit)
    names = [f"topic_{position}" for position in range(of_texts.shape[1])]
    known = pd.DataFrame(of_texts, columns=names, index=fit.index)
    topics_of = lambda rows: pd.DataFrame(of_other_texts(rows), columns=names, index=rows.index)
{% endif %}
    whole = lambda rows, *further: pd.concat([rows, *further], axis=1).drop(columns=left_out)
    return whole(fit{{ ", factors" if p.pair }}{{ ", known" if p.columns.texts }}), lambda rows: whole(rows{{ ", factors_of(rows)" if p.pair }}{{ ", topics_of(rows)" if p.columns.texts }})
