# === Encoding: {{ m.title }} ===
{% if p.columns.texts %}
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer


{% endif %}
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit):
    """The frame of the fitting rows, and what makes one of other rows. CatBoost encodes categories itself."""
    left_out = [{{ '"all_text"' if p.columns.texts }}]
{% if p.pair %}
    both = ["means of both categories", "factors of both categories"]
    values, values_of = pair_factors(fit, y_fit)
    factors = pd.DataFrame(values, columns=both, index=fit.index)
    factors_of = lambda rows: pd.DataFrame(values_of(rows), columns=both, index=rows.index)
{% endif %}
{% if p.columns.texts %}
    # Words may have a single letter.
    words = TfidfVectorizer(max_features=20000, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    counts = words.fit_transform(fit["all_text"])
    topics = TruncatedSVD(n_components=max(1, min(40, len(words.vocabulary_) - 1)), random_state=SEED)
    names = [f"topic_{position}" for position in range(topics.n_components)]
    known = pd.DataFrame(topics.fit_transform(counts), columns=names, index=fit.index)
    topics_of = lambda rows: pd.DataFrame(topics.transform(words.transform(rows["all_text"])), columns=names, index=rows.index)
{% endif %}
    whole = lambda rows, *further: pd.concat([rows, *further], axis=1).drop(columns=left_out)
    return whole(fit{{ ", factors" if p.pair }}{{ ", known" if p.columns.texts }}), lambda rows: whole(rows{{ ", factors_of(rows)" if p.pair }}{{ ", topics_of(rows)" if p.columns.texts }})
