    # Length, capitals and punctuation of texts.
    for column in TEXTS:
        text = frame[column].astype("object").fillna("").astype("str")
        x[column + "_letters"] = text.str.len().astype(float)
        x[column + "_words"] = text.str.count(r"\S+").astype(float)
        x[column + "_capitals"] = text.str.count(r"[A-Z]").astype(float)
        x[column + "_marks"] = text.str.count(r"[!?]").astype(float)
        x[column + "_digits"] = text.str.count(r"\d").astype(float)
