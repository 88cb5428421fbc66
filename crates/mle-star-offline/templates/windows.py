# === Windows ===
{% set clock = "clock" if p.time.series else "CLOCK" %}
def mean_between(codes, times, values, wanted, starts, ends):
    """The mean of each wanted code's values from a start until before an end; NaN if there are none."""
    marks = np.unique(np.concatenate([times, starts, ends]))

    def place(code, time):
        return code * (len(marks) + 1) + np.searchsorted(marks, time)

    order = np.argsort(place(codes, times), kind="stable")
    # Sums of differences from the mean stay small, and so do their rounding errors.
    middle = values.mean(axis=0) if len(values) else 0.0
    sums = np.concatenate([np.zeros((1, *values.shape[1:])), np.cumsum(values[order] - middle, axis=0)])
    first, last = (np.searchsorted(place(codes, times)[order], place(wanted, at)) for at in (starts, ends))
    number = (last - first).reshape(-1, *(1 for _ in values.shape[1:]))
    return np.where(number > 0, middle + (sums[last] - sums[first]) / np.maximum(number, 1), np.nan)


def last_before(codes, times, values, wanted, ends):
    """The latest of each wanted code's values before an end; NaN if there are none."""
    known = pd.DataFrame({"code": codes, "time": times, "value": values}).sort_values("time", kind="stable")
    asked = pd.DataFrame({"code": wanted, "time": np.nan_to_num(ends, nan=-np.inf)}).rename_axis("row").reset_index()
    found = pd.merge_asof(asked.sort_values("time"), known, on="time", by="code", allow_exact_matches=False)
    return found.sort_values("row")["value"].to_numpy()


def with_windows(fit, others, y_fit, fit_rows, other_rows, windows):
    """Both frames with columns for earlier targets of the same series, taken from the fitted rows{{ " and the rows that the sample lacks" if p.subsample }}.

    Rows to predict come after all fitted rows{{ " of their series" if p.time.series }}, so they know their series up to the first of them only. Fitted rows see no
    more: time is cut into periods as long as that of the rows to predict, and a row knows the rows before its period.
    Windows are in periods.
    """
    if not windows:
        return fit, others
{% if p.time.series %}
    # Each series ends at a time of its own, so times count from the last fitted row of its series.
    ends = pd.Series(CLOCK[fit_rows]).groupby(CODES[fit_rows]).max()
    clock = CLOCK - pd.Series(CODES).map(ends).fillna(ends.max()).to_numpy(dtype=float)
{% endif %}
    has_time = np.isfinite({{ clock }}[fit_rows])
    known_rows, known = fit_rows[has_time], y_fit[has_time]
{% if p.time.series %}
    # Other rows to predict lie between fitted rows of their series.
    later = clock[other_rows][clock[other_rows] > 0.0]
{% else %}
    later = CLOCK[other_rows][np.isfinite(CLOCK[other_rows])]
{% endif %}
{% if p.subsample %}
    earlier = {{ clock }}[LEFT_OUT] <= {{ clock }}[known_rows].max(initial=-np.inf)
    known_rows = np.concatenate([known_rows, LEFT_OUT[earlier]])
{% if p.classification %}
    targets = left_out[TARGET].map({label: code for code, label in enumerate(CLASSES)}).to_numpy(dtype=float)
{% else %}
    targets = to_model_scale(left_out[TARGET].to_numpy(dtype=float))
{% endif %}
    known = np.concatenate([known, targets[earlier]])
{% endif %}
    codes, times = CODES[known_rows], {{ clock }}[known_rows]
    order = np.lexsort((times, codes))
    gaps = np.diff(times[order])[np.diff(codes[order]) == 0]
    gap = np.median(gaps[gaps > 0]) if (gaps > 0).any() else 1.0
    last = times.max(initial=-np.inf)
    begin = min(later.min(initial=np.inf), last + gap) if len(times) else 0.0
    period = later.max(initial=begin) - begin + gap
    # A window of a quarter has at least two rows of a series, if it has no gaps.
    unit = max(period, 8.0 * gap)

    def history(rows):
        # Rounding must not put the beginning of a period after its first row.
        starts = begin + np.minimum(np.floor(({{ clock }}[rows] - begin) / period), 0.0) * period
        starts = np.minimum(starts, {{ clock }}[rows])

{% if p.classes > 2 %}
        # The share of each class, and whether it is the last one.
        last, found = last_before(codes, times, known, CODES[rows], starts), {}
        labels = np.arange(len(CLASSES))
        are_labels = (known[:, None] == labels).astype(float)
        for width in windows:
            shares = mean_between(codes, times, are_labels, CODES[rows], starts - width * unit, starts)
            found |= {f"recent_{width:g}_{label}": shares[:, label] for label in labels}
        for label in labels:
            found[f"recent_last_{label}"] = np.where(np.isnan(last), np.nan, last == label)
        found["recent_distance"] = {{ clock }}[rows] - starts
{% else %}
        def recent(width, within, of):
            return mean_between(within, times, known, of, starts - width, starts)

        found = {f"recent_{width:g}": recent(width * unit, codes, CODES[rows]) for width in windows}
        found["recent_last"] = last_before(codes, times, known, CODES[rows], starts)
        found["recent_trend"] = found[f"recent_{windows[0]:g}"] - found[f"recent_{windows[-1]:g}"]
        found["recent_distance"] = {{ clock }}[rows] - starts
{% if p.time.is_date %}
        # How far the series usually is from its mean at this weekday and hour, over at least four weeks.
        wide = max(4.0 * unit, 28.0)
        hours = np.floor(np.nan_to_num(CLOCK) * 24.0 + 1e-6).astype(int) % 168
        same_hour = CODES * 168 + hours
        usual = recent(wide, same_hour[known_rows], same_hour[rows]) - recent(wide, codes, CODES[rows])
        found["recent_same_hour"] = usual
        found["recent_at_hour"] = found[f"recent_{windows[len(windows) // 2]:g}"] + np.nan_to_num(usual)
{% endif %}
{% endif %}
        return found

    return [frame.assign(**history(rows)) for frame, rows in zip((fit, others), (fit_rows, other_rows))]
