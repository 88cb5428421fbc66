    # How common a category is among the fitting rows.
    for column in {{ s.categories }}:
        shares = fit[column].value_counts(normalize=True)
        blocks.append([frame[column].map(shares).fillna(0.0).to_numpy(dtype=float)[:, None] for frame in frames])
