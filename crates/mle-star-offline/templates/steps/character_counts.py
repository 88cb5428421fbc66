    # Three and four letters in a row are robust to misspellings and word endings.
    from sklearn.feature_extraction.text import TfidfVectorizer

    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), min_df=2, max_features=20000, sublinear_tf=True)
    blocks.append((pieces.fit_transform(fit["all_text"]), lambda rows: pieces.transform(rows["all_text"])))
