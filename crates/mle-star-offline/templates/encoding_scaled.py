# === Encoding: {{ m.title }} ===
from sklearn.impute import SimpleImputer
{% if p.columns.many_levels and not p.grouping %}
from sklearn.model_selection import KFold
{% endif %}
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import {{ 'OneHotEncoder, ' if p.columns.categorical else '' }}StandardScaler{{ ', TargetEncoder' if p.columns.many_levels else '' }}


{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit):
    """The matrix of the fitting rows, and what makes one of other rows. It is learnt from the fitting rows."""
    numeric = list(fit.select_dtypes("number").columns)
    # Columns: their values for the fitting rows, and what finds them for other rows.
    blocks = []
{% if p.columns.numeric or p.columns.dates %}
    fill = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    scale = make_pipeline(fill, StandardScaler()).fit(fit[numeric].to_numpy(dtype=float))
    scaled = lambda rows: scale.transform(rows[numeric].to_numpy(dtype=float))
    blocks.append((scaled(fit), scaled))
{% endif %}
{% if p.columns.categorical %}
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append((switches.transform(fit[CATEGORICAL]), lambda rows: switches.transform(rows[CATEGORICAL])))
{% endif %}
{% if p.columns.many_levels %}
    # For columns with many categories, cross-fitted target means replace thousands of indicators.
    means = TargetEncoder(target_type={{ p.target_type | py }}, cv={{ p.inner_folds }})
    encoded = means.fit_transform(fit[MANY_LEVELS], y_fit)
    level = StandardScaler().fit(encoded)
    blocks.append((level.transform(encoded), lambda rows: level.transform(means.transform(rows[MANY_LEVELS]))))
{% endif %}
{% if p.pair %}
    factors, factors_of = pair_factors(fit, y_fit)
    level_of_pair = StandardScaler().fit(factors)
    blocks.append((level_of_pair.transform(factors), lambda rows: level_of_pair.transform(factors_of(rows))))
{% endif %}
{% if p.columns.texts %}
    blocks.append(tf_idf(fit, 50000, 1 if len(fit) < 200 else 2))
    known, makers = zip(*blocks)
    whole = lambda parts: hstack([csr_matrix(part) for part in parts]).tocsr()
    return whole(known), lambda rows: whole([maker(rows) for maker in makers])
{% else %}
    known, makers = zip(*blocks)
    return np.hstack(known), lambda rows: np.hstack([maker(rows) for maker in makers])
{% endif %}
