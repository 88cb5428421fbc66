    # A missing value can itself be information.
    gaps = frame[{{ s.gappy | py_list }}].isna()
    x["gaps"] = gaps.sum(axis=1).astype(float)
    x[[f"{column}_gap" for column in gaps.columns]] = gaps.astype(float)
