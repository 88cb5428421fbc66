# === Pair ===
PAIR = {{ p.pair | py_list }}


def pair_factors(fit, y_fit):
    """What both categories of a row say about it, without and with how they go together: for the fitting rows, and what finds it
    for other rows.

    Each category has a mean and three factors. The factors are found by alternating least squares: their products come
    close to what the means leave. The fitting rows are predicted by the others of them.
    """
    from sklearn.model_selection import KFold, check_cv

    levels = [pd.Index(fit[column].unique()) for column in PAIR]
    sizes = [len(level) for level in levels]

    def codes(frame):
        return np.array([level.get_indexer(frame[column]) for level, column in zip(levels, PAIR)])

    def learn(known, values, penalty):
        middle = values.mean()
        means = [np.zeros(size) for size in sizes]
        for own, other in 4 * [(0, 1), (1, 0)]:
            sums = np.bincount(known[own], values - middle - means[other][known[other]], sizes[own])
            means[own] = sums / (np.bincount(known[own], minlength=sizes[own]) + 5.0)
        rest = values - middle - means[0][known[0]] - means[1][known[1]]
        spread = max(rest.std(), 1e-12)
        draw = np.random.default_rng(SEED)
        factors = [draw.normal(scale=0.3, size=(size, 3)) for size in sizes]
        for own, other in 10 * [(0, 1), (1, 0)]:
            seen = factors[other][known[other]].T
            squares = [[np.bincount(known[own], one * two, sizes[own]) for one in seen] for two in seen]
            sums = [np.bincount(known[own], one * rest / spread, sizes[own]) for one in seen]
            left = np.transpose(squares, (2, 0, 1)) + penalty * np.eye(3)
            factors[own] = np.linalg.solve(left, np.transpose(sums)[:, :, None])[:, :, 0]
        # New categories have the code -1, and neither mean nor factors.
        means = [np.append(mean, 0.0) for mean in means]
        factors = [np.vstack([factor, np.zeros(3)]) for factor in factors]

        def predict(at):
            alone = middle + means[0][at[0]] + means[1][at[1]]
            return np.column_stack([alone, alone + spread * (factors[0][at[0]] * factors[1][at[1]]).sum(axis=1)])

        return predict

    def crossed(penalty):
        found = np.zeros((len(fit), 2))
        for learnt, left in check_cv({{ p.inner_folds }}).split(fit):
            found[left] = learn(own[:, learnt], values[learnt], penalty)(own[:, left])
        return found

    own, values = codes(fit), np.asarray(y_fit, dtype=float)
    # Few rows of a category need a larger penalty.
    tried = {penalty: crossed(penalty) for penalty in (3.0, 12.0)}
    best = min(tried, key=lambda penalty: np.square(values - tried[penalty][:, 1]).mean())
    predict = learn(own, values, best)
    return tried[best], lambda rows: predict(codes(rows))
