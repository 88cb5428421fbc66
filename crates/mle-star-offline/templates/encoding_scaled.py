# === Encoding: {{ m.title }} ===
{% if p.columns.texts %}
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
{% endif %}
from sklearn.impute import SimpleImputer
{% if p.columns.many_levels and not p.grouping %}
from sklearn.model_selection import KFold
{% endif %}
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import {{ 'OneHotEncoder, ' if p.columns.categorical else '' }}StandardScaler{{ ', TargetEncoder' if p.columns.many_levels else '' }}


{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit, others):
    """Scaled matrices for fitting and predicting, learnt from the fitting rows."""
    frames = [fit, *others]
    numeric = list(fit.select_dtypes("number").columns)
    blocks = []
{% if p.columns.numeric or p.columns.dates %}
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    scale = make_pipeline(fill, StandardScaler()).fit(fit[numeric].to_numpy(dtype=float))
    blocks.append([scale.transform(frame[numeric].to_numpy(dtype=float)) for frame in frames])
{% endif %}
{% if p.columns.categorical %}
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append([switches.transform(frame[CATEGORICAL]) for frame in frames])
{% endif %}
{% if p.columns.many_levels %}
    # For columns with many categories, cross-fitted target means replace thousands of indicators.
    means = TargetEncoder(target_type={{ p.target_type | py }}, cv={{ p.inner_folds }})
    encoded = [means.fit_transform(fit[MANY_LEVELS], y_fit), *(means.transform(other[MANY_LEVELS]) for other in others)]
    level = StandardScaler().fit(encoded[0])
    blocks.append([level.transform(values) for values in encoded])
{% endif %}
{% if p.pair %}
    known = pair_factors(fit, y_fit, others)
    level = StandardScaler().fit(known[0])
    blocks.append([level.transform(values) for values in known])
{% endif %}
{% if p.columns.texts %}
    # Words may have a single letter.
    words = TfidfVectorizer(max_features=50000, ngram_range=(1, 2), min_df=2, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    blocks.append([words.fit_transform(fit["all_text"]), *(words.transform(other["all_text"]) for other in others)])
    return [hstack([csr_matrix(part) for part in parts]).tocsr() for parts in zip(*blocks)]
{% else %}
    return [np.hstack(parts) for parts in zip(*blocks)]
{% endif %}
