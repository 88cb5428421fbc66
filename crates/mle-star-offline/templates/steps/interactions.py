    # Products and ratios of pairs: trees cannot form them in a few splits.
    for left, right in {{ "[" }}{% for pair in s.pairs %}({{ pair[0] | py }}, {{ pair[1] | py }}){{ ", " if not loop.last else "" }}{% endfor %}{{ "]" }}:
        x[f"{left}_times_{right}"] = x[left] * x[right]
        x[f"{left}_per_{right}"] = x[left] / x[right].where(x[right].abs() > 1e-9)
