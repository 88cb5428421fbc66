    # Only the numbers that trees use more than shuffled copies of them.
    from lightgbm import LGBM{{ 'Classifier' if p.classification else 'Regressor' }}

    random, numbers = np.random.default_rng(SEED), fit.select_dtypes("number")
    rows = random.permutation(len(fit))[:20_000]
    values = numbers.iloc[rows].to_numpy(dtype=float)
    judge = LGBM{{ 'Classifier' if p.classification else 'Regressor' }}(
        n_estimators={{ 50 if p.classes <= 3 else 20 }}, num_leaves=15, colsample_bytree=0.4, subsample=0.8, subsample_freq=1,
        importance_type="gain", random_state=SEED, n_jobs=THREADS, verbose=-1,
    )
    # The copies keep how columns depend on each other.
    judge.fit(np.hstack([values, random.permutation(values)]), y_fit[rows])
    used, by_chance = np.split(judge.feature_importances_, 2)
    selected = list(numbers.columns[used > by_chance.max()]) or list(numbers.columns)
{% if s.frames %}
    left_out.extend(numbers.columns.difference(selected))
{% else %}
    numeric = selected
{% endif %}
