    # One indicator for every category that occurs at least twice.
    from sklearn.preprocessing import OneHotEncoder
    frequent = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=2, dtype=float).fit(fit[MANY_LEVELS])
    blocks.append((frequent.transform(fit[MANY_LEVELS]), lambda rows: frequent.transform(rows[MANY_LEVELS])))
