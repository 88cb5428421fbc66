    # Statistics over all numbers of the row.
    numbers = x[NUMERIC]
    x["row_mean"], x["row_spread"] = numbers.mean(axis=1), numbers.std(axis=1)
    x["row_smallest"], x["row_largest"] = numbers.min(axis=1), numbers.max(axis=1)
