    # Character n-grams are robust to misspellings and word endings.
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), max_features=20000, sublinear_tf=True)
    spellings = pieces.fit_transform(fit["all_text"])
    shapes = TruncatedSVD(n_components=max(1, min(30, spellings.shape[1] - 1)), random_state=SEED)
    blocks.append((shapes.fit_transform(spellings), lambda rows: shapes.transform(pieces.transform(rows["all_text"]))))
