    # Long right tails are drawn in.
    for column in {{ s.skewed | py_list }}:
        x[column + "_log"] = np.log1p(x[column].clip(lower=0.0))
