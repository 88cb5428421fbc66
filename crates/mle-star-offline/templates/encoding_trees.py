# === Encoding: {{ m.title }} ===
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
{% if p.columns.categorical or p.columns.many_levels %}


{% endif %}
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit):
    """The matrix of the fitting rows, and what makes one of other rows. It is learnt from the fitting rows."""
    numeric = list(fit.select_dtypes("number").columns)
    # Columns: their values for the fitting rows, and what finds them for other rows.
    blocks = []
    blocks.append((fit[numeric].to_numpy(dtype=float), lambda rows: rows[numeric].to_numpy(dtype=float)))
{% if p.columns.categorical %}
{% if indicators %}
    # A small tree reaches any one category in a single split.
    switches = OneHotEncoder(handle_unknown="ignore", sparse_output=False, dtype=float).fit(fit[CATEGORICAL])
    blocks.append((switches.transform(fit[CATEGORICAL]), lambda rows: switches.transform(rows[CATEGORICAL])))
{% else %}
    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1).fit(fit[CATEGORICAL])
    blocks.append((codes.transform(fit[CATEGORICAL]), lambda rows: codes.transform(rows[CATEGORICAL])))
{% endif %}
{% endif %}
{% if p.columns.many_levels %}
    # For columns with many categories, cross-fitted target means are better than codes. A mean of more rows is surer.
    means = TargetEncoder(target_type={{ p.target_type | py }}, cv={{ p.inner_folds }})
    blocks.append((means.fit_transform(fit[MANY_LEVELS], y_fit), lambda rows: means.transform(rows[MANY_LEVELS])))
    sizes = {column: fit[column].value_counts() for column in MANY_LEVELS}
    sizes_of = lambda rows: np.column_stack([rows[column].map(sizes[column]).fillna(0.0).to_numpy(dtype=float) for column in MANY_LEVELS])
    blocks.append((sizes_of(fit), sizes_of))
{% endif %}
{% if p.pair %}
    blocks.append(pair_factors(fit, y_fit))
{% endif %}
{% if p.columns.texts %}
    blocks.append(topics(fit))
{% endif %}
    known, makers = zip(*blocks)
    return np.hstack(known), lambda rows: np.hstack([maker(rows) for maker in makers])
