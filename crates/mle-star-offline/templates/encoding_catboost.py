# === Encoding: {{ m.title }} ===
{% if p.columns.texts %}
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer


{% endif %}
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
def encode_{{ m.slug }}(fit, y_fit, others):
    """Frames for fitting and predicting; CatBoost encodes categories itself, on the fitting rows."""
    frames = [fit, *others]
{% if p.pair %}
    known = pair_factors(fit, y_fit, others)
    names = ["means of both categories", "factors of both categories"]
    columns = [pd.DataFrame(values, columns=names, index=frame.index) for values, frame in zip(known, frames)]
    frames = [pd.concat([frame, more], axis=1) for frame, more in zip(frames, columns)]
{% endif %}
{% if p.columns.texts %}
    # Words may have a single letter.
    words = TfidfVectorizer(max_features=20000, sublinear_tf=True, token_pattern=r"(?u)\b\w+\b")
    counts = [words.fit_transform(fit["all_text"]), *(words.transform(other["all_text"]) for other in others)]
    topics = TruncatedSVD(n_components=max(1, min(40, len(words.vocabulary_) - 1)), random_state=SEED)
    names = [f"topic_{position}" for position in range(topics.n_components)]
    spread = [topics.fit_transform(counts[0]), *(topics.transform(other) for other in counts[1:])]
    columns = [pd.DataFrame(values, columns=names, index=frame.index) for values, frame in zip(spread, frames)]
    frames = [pd.concat([frame.drop(columns="all_text"), more], axis=1) for frame, more in zip(frames, columns)]
{% endif %}
    return frames
