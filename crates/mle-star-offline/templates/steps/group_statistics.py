    # Where a row's number stands within its group, with means learnt from the fitting rows.
    for group in {{ s.groups | py_list }}:
        for number in {{ s.numbers | py_list }}:
            level = fit.groupby(group)[number].mean()
            overall = fit[number].mean()
            distances = [(f[number].fillna(overall) - f[group].map(level).fillna(overall)) for f in frames]
            blocks.append([distance.fillna(0.0).to_numpy(dtype=float)[:, None] for distance in distances])
