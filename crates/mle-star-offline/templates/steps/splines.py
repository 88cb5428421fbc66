    # Piecewise curves let a linear model bend.
    from sklearn.preprocessing import SplineTransformer
    curves = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        SplineTransformer(n_knots=5, degree=3, knots="quantile", include_bias=False),
    ).fit(fit[numeric].to_numpy(dtype=float))
    blocks.append([curves.transform(frame[numeric].to_numpy(dtype=float)) for frame in frames])
