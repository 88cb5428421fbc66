    # Distances to typical rows say which kind of row this is.
    from sklearn.cluster import KMeans
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    typical = make_pipeline(
        SimpleImputer(strategy="median", keep_empty_features=True),
        StandardScaler(),
        KMeans(n_clusters=8, n_init=2, random_state=SEED),
    ).fit(fit[numeric].to_numpy(dtype=float))
    blocks.append([typical.transform(frame[numeric].to_numpy(dtype=float)) for frame in frames])
