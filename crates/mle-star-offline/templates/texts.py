# === Texts ===
from scipy.sparse import csr_matrix, hstack
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer


def terms_of(texts, longest):
    """The terms of each text, up to `longest` words, with their frequencies. Terms are hashes: nothing is learnt, so texts are read once."""
    # Words may have a single letter.
    found = HashingVectorizer(n_features=1 << 22, alternate_sign=False, norm=None, ngram_range=(1, longest), token_pattern=r"(?u)\b\w+\b").transform(texts)
    return np.split(np.vstack([found.indices, found.data]).astype(np.float32), found.indptr[1:-1], axis=1)


def tf_idf(fit, most, least=1):
    """TF-IDF of the most frequent terms of the fitting rows, and what finds that of other rows."""

    def frequencies(rows):
        hashes, values = np.hstack(list(rows["terms"]))
        ends = np.cumsum([0, *(terms.shape[1] for terms in rows["terms"])])
        return csr_matrix((values, hashes.astype(np.int32), ends), shape=(len(rows), 1 << 22))

    known, weights = frequencies(fit), TfidfTransformer(sublinear_tf=True)
    kept = np.flatnonzero(known.getnnz(axis=0) >= least)
    kept = kept[np.argsort(-np.asarray(known.sum(axis=0))[0, kept], kind="stable")[:most]]
    return weights.fit_transform(known[:, kept]), lambda rows: weights.transform(frequencies(rows)[:, kept])


def topics(fit):
    """A few sums of these for the fitting rows, and what finds them for other rows."""
    known, found = tf_idf(fit, 20000)
    sums = TruncatedSVD(n_components=max(1, min(40, known.shape[1] - 1)), random_state=SEED)
    return sums.fit_transform(known), lambda rows: sums.transform(found(rows))
