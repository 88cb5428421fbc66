# === Seasons ===
# The power of their errors by which the weights of forecasts fall, the periods that errors are of, and the cycles of a trend.
POWER, PERIODS, TREND = 6, 4, 5

# Time in steps, and the numbers of steps after which a series may repeat itself, the shortest first; 1 if it does not.
gaps = np.diff(np.unique(CLOCK[: len(train)][np.isfinite(CLOCK[: len(train)])]))
step = np.median(gaps) if len(gaps) else 1.0
{% if p.time.is_date %}
if step > 27 and np.mean(gaps == step) < 0.9:
    # Months, quarters and years differ in length, so the calendar counts them.
    months = max(1, round(step / 30.44))
    steps = ((MOMENTS.dt.year * 12 + MOMENTS.dt.month) // months).to_numpy(dtype=float)
    CYCLES = [12 // months] if months < 12 else [1]
else:
    steps = np.round(CLOCK / step - np.nanmin(CLOCK) / step)
    # A day, a week, and the 52 weeks after which the same weekday comes again.
    CYCLES = sorted({round(days / step) for days in (1, 7, 364)} - {0, 1}) or [1]
{% else %}
steps = np.round(CLOCK / step - np.nanmin(CLOCK) / step)
{% endif %}
steps = steps - np.nanmin(steps)
{% if p.history.series %}
# Very long tables are known from a later step on.
steps = steps - max(0.0, np.nanmax(steps) - 10_000_000 // (CODES.max() + 1))
{% else %}
# Very long tables are known from a later step on.
steps = steps - max(0.0, np.nanmax(steps) - 10_000_000)
{% endif %}
STEPS = np.where(np.isfinite(steps), steps, -1).astype(int)

# The rows with a known target, in all series and in ever larger groups of them.
{% if p.subsample %}
labelled = np.concatenate([np.arange(len(train)), LEFT_OUT])
targets = np.concatenate([y, left_out[TARGET].to_numpy(dtype=float)])
{% else %}
labelled, targets = np.arange(len(train)), y
{% endif %}
labelled, targets = labelled[STEPS[labelled] >= 0], targets[STEPS[labelled] >= 0]
GROUPS_OF_SERIES = [CODES{% if p.history.series | length > 1 %}, *(pd.factorize(tables[column], use_na_sentinel=False)[0] for column in SERIES){% endif %}{{ ", np.zeros_like(CODES)" if p.history.series }}]
# Ratios between levels are differences between logarithms.
SCALES = [(lambda values: values, lambda values: values)]
if targets.min(initial=0.0) >= 0.0:
    SCALES.append((np.log1p, lambda values: np.expm1(np.minimum(values, 700.0))))


class Past:
    """The values of series by step, the mean where there are several; steps and series may be arrays."""

{% if p.time.series %}
    def __init__(self, codes, values, rows):
        self.values = np.full((STEPS[labelled].max(initial=0) + 1, codes.max() + 1), np.nan)
        means = pd.Series(values).groupby([STEPS[rows], codes[rows]]).mean()
{% else %}
    def __init__(self, codes, values):
        self.values = np.full((STEPS[labelled].max(initial=0) + 1, codes.max() + 1), np.nan)
        means = pd.Series(values).groupby([STEPS[labelled], codes[labelled]]).mean()
{% endif %}
        self.values[means.index.get_level_values(0), means.index.get_level_values(1)] = means.to_numpy()
        first = np.zeros((1, self.values.shape[1]))
        self.sums = np.vstack([first, np.nancumsum(self.values, axis=0)])
        self.numbers = np.vstack([first, np.isfinite(self.values).cumsum(axis=0)])

    def at(self, steps, codes):
        """The value of each step; NaN if it is not known."""
        inside = (steps >= 0) & (steps < len(self.values))
        return np.where(inside, self.values[np.clip(steps, 0, len(self.values) - 1), codes], np.nan)

    def level(self, ends, width, codes):
        """The mean of so many steps before each end; NaN if hardly as many are known."""
        last, first = (np.clip(at, 0, len(self.values)) for at in (ends, ends - width))
        number = self.numbers[last, codes] - self.numbers[first, codes]
        total = self.sums[last, codes] - self.sums[first, codes]
        return np.where((number > 0) & (ends - width >= -0.2 * width), total / np.maximum(number, 1), np.nan)


{% if p.time.series %}


def pasts_of(codes, rows):
    """The past of series from these rows{{ " and those that the sample lacks" if p.subsample }}, on each scale."""
    known = np.isin(labelled, {{ "[*rows, *LEFT_OUT]" if p.subsample else "rows" }})
    return [Past(codes, to_scale(targets[known]), labelled[known]) for to_scale, _ in SCALES]


PASTS = [pasts_of(codes, labelled) for codes in GROUPS_OF_SERIES]
{% else %}
PASTS = [[Past(codes, to_scale(targets)) for to_scale, _ in SCALES] for codes in GROUPS_OF_SERIES]
{% endif %}
{% if not p.time.is_date %}


def repeats(cycle):
    """How much the changes of all series together are like those a cycle earlier."""
    changes = np.diff(PASTS[-1][0].values[:, 0])
    now, before = changes[cycle:], changes[:-cycle]
    both = np.isfinite(now) & np.isfinite(before)
    if both.sum() < cycle or np.ptp(now[both]) == 0 or np.ptp(before[both]) == 0:
        return 0.0
    return np.corrcoef(now[both], before[both])[0, 1]


# Nobody knows how long a step is, so the values say which usual cycles there are: the clearest, and the longest.
clear = [cycle for cycle in (4, 7, 12, 24, 52, 168, 365) if repeats(cycle) > 0.3]
CYCLES = sorted({max(clear, key=repeats), clear[-1]}) if clear else [1]
{% endif %}


def mean_of(parts):
    """The mean of those that are known."""
    known = np.isfinite(parts)
    return np.where(known.any(axis=0), np.where(known, parts, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1), np.nan)


def simple_forecasts(past, codes, steps, ends, reach):
    """Forecasts of rows from what their series were before their ends, by name; reach is the farthest step after an end."""
    found = {f"level_{width}": past.level(ends, width, codes) for width in {1, 4 * CYCLES[0], *CYCLES}}
    found["level"] = past.level(ends, ends, codes)
    for cycle in CYCLES:
        # How many cycles ago each row's place in the cycle was known last.
        back = (steps - ends) // cycle + 1
        seen = [past.at(steps - cycle * (back + more), codes) for more in range(12)]
        for count in (1, 2, 4, 12):
            found[f"mean_{cycle}_{count}"] = mean_of(seen[:count])
    # Of the longest cycle, with how far the level has moved since, or with its trend.
    whole = -(-reach // CYCLES[0]) * CYCLES[0]
    trend = (past.level(ends, cycle, codes) - past.level(ends - TREND * cycle, cycle, codes)) / TREND
    for count in (1, 2, 4):
        for width in {1, min(whole, cycle), cycle}:
            now = past.level(ends, width, codes)
            moved = [now - past.level(ends - cycle * (back + more), width, codes) for more in range(count)]
            found[f"moved_{cycle}_{count}_{width}"] = mean_of([one + by for one, by in zip(seen, moved)])
        found[f"trend_{cycle}_{count}"] = mean_of([seen[more] + (back + more) * trend for more in range(count)])
    return found


def with_forecasts(fit, others, fit_rows, other_rows):
    """Both frames with simple forecasts of each row's series, and with their mean weighted by how well they did lately.

    Rows to predict come after all fitted rows and know what was before. Fitted rows see no more: time is cut into periods
    as long as that of the rows to predict, and a row knows what was as long before its period as the last fitted row is
    before the rows to predict.
    """
    rows = np.concatenate([fit_rows, other_rows])
    fitted, steps = np.arange(len(rows)) < len(fit_rows), STEPS[rows]
{% if p.time.series %}
    # Each series ends at a time of its own: after its last fitted row.
    after = pd.Series(STEPS[fit_rows] + 1).groupby(CODES[fit_rows]).max()
    end = pd.Series(CODES[rows]).map(after).fillna(after.max()).to_numpy(dtype=int)
    later = (steps - end)[~fitted & (steps >= end)]
    ahead, last = (later.min(), later.max()) if len(later) else (0, 0)
    length, pasts = last - ahead + 1, [pasts_of(CODES, fit_rows)]
    # Other rows to predict lie between fitted rows of their series, and know what these know.
    within = fitted | (steps < end)
    periods = np.where(within, (steps - end) // length, 0)
    ends = np.where(within, end + periods * length - ahead, end)
{% else %}
    end = STEPS[fit_rows].max(initial=-1) + 1
    later = STEPS[other_rows][STEPS[other_rows] >= 0]
    first, last = (later.min(), later.max()) if len(later) else (end, end)
    end = min(end, first)
    ahead, length = first - end, last - first + 1
    periods = np.where(fitted, (steps - end) // length, 0)
    ends = np.where(fitted, end + periods * length - ahead, end)
{% endif %}

    def forecasts(group, at):
        found = {}
        for past, (_, from_scale), name in zip({{ "pasts" if p.time.series else "PASTS" }}[group], SCALES, ["", "log_"]):
            simple = simple_forecasts(past, GROUPS_OF_SERIES[group][rows[at]], steps[at], ends[at], ahead + length)
            found |= {name + one: from_scale(values) for one, values in simple.items()}
        return found

    own = forecasts(0, np.arange(len(rows)))
    weights = weights_of(own, fit_rows, periods[fitted])
    best = weighted(own, weights)
{% if p.time.series %}
    # A row to predict before which its series has no fitted rows is like the mean of the others.
    missing = ~np.isfinite(best) & ~fitted
    best[missing] = pasts[0][0].level(len(pasts[0][0].values), len(pasts[0][0].values), CODES[rows[missing]])
{% else %}
    # A series without a past is like its group.
    for group in range(1, len(PASTS)):
        missing = np.flatnonzero(~np.isfinite(best))
        if len(missing):
            best[missing] = weighted(forecasts(group, missing), weights)
{% endif %}
    if len(SCALES) > 1:
        best = np.maximum(best, 0.0)
    columns = {name: values for name, values in own.items() if not name.startswith(("log_", "trend_"))}
    columns = {name: to_model_scale(values) for name, values in columns.items()}
    columns |= {"forecast": to_model_scale(best), "steps_ahead": (steps - ends).astype(float)}
    found = pd.DataFrame(columns).add_prefix("past_").rename(columns={"past_forecast": "forecast"})
    parts = found[fitted], found[~fitted]
    return [pd.concat([frame, part.set_axis(frame.index)], axis=1) for frame, part in zip((fit, others), parts)]


def weights_of(found, fit_rows, periods):
    """The weight of each forecast, from its errors in the last periods that have rows, relative to the plain level."""
    truth, errors = to_model_scale(y[fit_rows]), {}
    for name, values in found.items():
        miss = to_model_scale(values[: len(fit_rows)]) - truth
        errors[name] = {{ "np.abs(miss)" if p.metric.absolute else "np.square(miss)" }}
    ratios = {name: [] for name in found}
    for period in np.unique(periods)[::-1][:PERIODS]:
        tried = (periods == period) & np.isfinite(errors["level"])
        for name, missed in errors.items():
            known = tried & np.isfinite(missed)
            if 2 * known.sum() > tried.sum():
                ratios[name].append((missed[known].sum() + 1e-12) / (errors["level"][known].sum() + 1e-12))
    # What was tried in few periods may have been lucky.
    sure = {name: {{ "np.mean(found)" if p.metric.absolute else "np.sqrt(found).mean()" }} * (1 + 0.5 / len(found)) for name, found in ratios.items() if found}
    if not sure:
        return {name: 1.0 for name in found}
    weights = {name: (min(sure.values()) / ratio) ** POWER for name, ratio in sure.items()}
    return {name: weight for name, weight in weights.items() if weight > 0.02}


def weighted(found, weights):
    """The weighted mean of the forecasts that are known; NaN if none is."""
    values, weight = np.array([found[name] for name in weights]), np.array(list(weights.values()))[:, None]
    known = np.isfinite(values)
    total, counted = np.where(known, values * weight, 0.0).sum(axis=0), (known * weight).sum(axis=0)
    return np.where(counted > 0.0, total / np.maximum(counted, 1e-300), np.nan)
