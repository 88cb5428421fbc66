# === Encoding: {{ m.title }} ===
{% if p.columns.texts %}
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
{% endif %}
{% if p.columns.many_levels and not p.grouping %}
from sklearn.model_selection import KFold
{% endif %}
{% set codes = "OneHotEncoder" if indicators else "OrdinalEncoder" %}
{% if p.columns.categorical and p.columns.many_levels %}
from sklearn.preprocessing import {{ codes }}, TargetEncoder
{% elif p.columns.categorical %}
from sklearn.preprocessing import {{ codes }}
{% elif p.columns.many_levels %}
from sklearn.preprocessing import TargetEncoder
{% endif %}
{% if p.columns.texts or p.columns.categorical or p.columns.many_levels %}


{% endif %}
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit, others):
    """Matrices for fitting and predicting, learnt from the fitting rows."""
    frames = [fit, *others]
    numeric = list(fit.select_dtypes("number").columns)
    blocks = [[frame[numeric].to_numpy(dtype=float) for frame in frames]]
{% if p.columns.categorical %}
{% if indicators %}
    # A small tree reaches any one category in a single split.
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append([switches.transform(frame[CATEGORICAL]) for frame in frames])
{% else %}
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(fit[CATEGORICAL])
    blocks.append([codes.transform(frame[CATEGORICAL]) for frame in frames])
{% endif %}
{% endif %}
{% if p.columns.many_levels %}
    # For columns with many categories, cross-fitted target means are better than codes. A mean of more rows is surer.
    means = TargetEncoder(target_type={{ p.target_type | py }}, cv={{ p.inner_folds }})
    blocks.append([means.fit_transform(fit[MANY_LEVELS], y_fit), *(means.transform(other[MANY_LEVELS]) for other in others)])
    for column in MANY_LEVELS:
        rows = fit[column].value_counts()
        blocks.append([frame[column].map(rows).fillna(0.0).to_numpy(dtype=float)[:, None] for frame in frames])
{% endif %}
{% if p.pair %}
    blocks.append(pair_factors(fit, y_fit, others))
{% endif %}
{% if p.columns.texts %}
    # Words may have a single letter.
    words = TfidfVectorizer(max_features=20000, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    counts = [words.fit_transform(fit["all_text"]), *(words.transform(other["all_text"]) for other in others)]
    topics = TruncatedSVD(n_components=max(1, min(40, len(words.vocabulary_) - 1)), random_state=SEED)
    blocks.append([topics.fit_transform(counts[0]), *(topics.transform(other) for other in counts[1:])])
{% endif %}
    return [np.hstack(parts) for parts in zip(*blocks)]
