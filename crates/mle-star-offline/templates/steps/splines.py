    # Splines let a linear model learn curves.
    from sklearn.preprocessing import SplineTransformer
    curves = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        SplineTransformer(n_knots=5, degree=3, knots="quantile", include_bias=False),
    ).fit(fit[numeric].to_numpy(dtype=float))
    curves_of = lambda rows: curves.transform(rows[numeric].to_numpy(dtype=float))
    blocks.append((curves_of(fit), curves_of))
