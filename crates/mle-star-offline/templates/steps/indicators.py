    # One indicator for every category that occurs at least twice.
    from sklearn.preprocessing import OneHotEncoder
    known = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, dtype=float).fit(fit[MANY_LEVELS])
    blocks.append([known.transform(frame[MANY_LEVELS]) for frame in frames])
