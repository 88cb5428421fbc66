{% set keeps_model = not p.history and not (p.joins | selectattr("before") | list) %}
{% set computes_columns = (keeps_model and p.joins) or (p.time and p.time.unit) or p.derived.names or p.derived.codes or p.derived.spans or p.derived.ways or p.derived.differences or p.derived.equals %}
# === Data ===
{% if p.several %}
TARGETS = {{ p.several | py_list }}
{% else %}
TARGET = {{ p.target | py }}
{% endif %}
{% if p.id %}
ID = {{ p.id | py }}
{% endif %}
{% if p.grouping %}
{% if p.grouping.given %}
# Rows of a group depend on each other, so the column defines folds and is not a feature.
{% else %}
# The test table has none of these groups, so the column defines folds and is not a feature.
{% endif %}
GROUP = {{ p.grouping.column | py }}
{% endif %}
{% if p.time %}
# The test rows are later than the training rows, so time defines the folds. It may be a feature too: a tree treats
# later times like the latest that it knows, and validation on later rows measures what that costs.
TIME = {{ p.time.column | py }}
{% if p.time.groups %}
# Rows of a group depend on each other and stay together, so the column is not a feature.
GROUP = {{ p.time.groups | py }}
{% endif %}
{% endif %}
{% if p.weight %}
# How much each row counts in fitting and in scores.
WEIGHT = {{ p.weight | py }}
{% endif %}
{% if p.dropped %}
{{ p.dropped }}
{% endif %}
NUMERIC = {{ p.columns.numeric | py_list }}
{% if p.columns.categorical %}
CATEGORICAL = {{ p.columns.categorical | py_list }}
{% endif %}
{% if p.columns.many_levels %}
MANY_LEVELS = {{ p.columns.many_levels | py_list }}
{% endif %}
{% if p.columns.dates %}
DATES = {{ p.columns.dates | py_list }}
{% if p.columns.day_first %}
# Their dates begin with the day.
DAY_FIRST = {{ p.columns.day_first | py_list }}
{% endif %}
{% if p.columns.with_hours %}
# These have a time of day.
WITH_HOURS = {{ p.columns.with_hours | py_list }}
{% endif %}
{% endif %}
{% if p.columns.texts %}
TEXTS = {{ p.columns.texts | py_list }}
{% endif %}
{% if p.as_text %}
# Read as text, so that they are written as they are in the files.
AS_TEXT = {{ "{" }}{% for name in p.as_text %}{{ name | py }}: str{{ ", " if not loop.last }}{% endfor %}{{ "}" }}
{% endif %}
{% if p.words %}
# pandas takes these words for missing values everywhere. They are values of these columns.
VALUES = {{ "{" }}{% for pair in p.words %}{{ pair[0] | py }}: {{ pair[1] | py_list }}{{ ", " if not loop.last }}{% endfor %}{{ "}" }}
WORDS = ["", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"]
NAMES = [name for file in {{ p.files | py_list }} for name in pd.read_csv(file, nrows=0).columns]
MISSING = {name: [word for word in WORDS if word not in VALUES.get(name, [])] for name in NAMES}
{% endif %}
{% if p.own_dates %}


def moments_of(values, day_first=False):
    """The dates in texts. `Jan-24` is the January of 2024, and dates that begin with the year go on with the month."""
    texts = values.astype("str").str.strip()
    whole_year = lambda found: f"{found[1]}-{'20' if found[2] < '69' else '19'}{found[2]}"
    texts = texts.str.replace(r"^([A-Za-z]+\.?)-(\d\d)$", whole_year, regex=True)
    moments = pd.to_datetime(texts, errors="coerce", format="mixed", utc=True, dayfirst=day_first)
    if day_first:
        of_years = texts.where(texts.str.match(r"\d{4}", na=False))
        moments = pd.to_datetime(of_years, errors="coerce", format="mixed", utc=True).fillna(moments)
    return moments

{% endif %}

train = pd.read_csv({{ p.train_file | py }}{{ p.reading }})
test = pd.read_csv({{ p.test_file | py }}{{ p.reading }})
{% if p.nearly_numbers %}

# Words and blanks among numbers count as missing.
numbers = {{ p.nearly_numbers | py_list }}
for table in (train, test):
    table[numbers] = table[numbers].apply(pd.to_numeric, errors="coerce")
{% endif %}
{% if keeps_model %}

# How the columns of the test table are read. Those without any value are read as in the training table.
KINDS = {name: (train if name in train and test[name].isna().all() else test)[name].dtype for name in test}
{% endif %}
{% if p.padded %}

# Labels that differ in blanks alone are one class, spelt in its most frequent way.
bare = train[TARGET].str.strip()
train[TARGET] = bare.map(train[TARGET].groupby(bare).agg(lambda spellings: spellings.mode()[0]))
{% endif %}
{% if p.huge_target %}
# Nothing can be learnt from a target that is infinite or far from all others.
train = train[{{ "(train[TARGETS].abs() < 1e19).all(axis=1)" if p.several else "train[TARGET].abs() < 1e19" }}]
{% endif %}
{% if p.target_missing and p.several %}
train = train.dropna(subset=TARGETS)
{% elif p.target_missing %}
{% if p.classification and p.integer_target and not p.numbered %}
# Gaps have made numbers with a point of the labels.
train = train.dropna(subset=[TARGET]).astype({TARGET: int})
{% else %}
train = train.dropna(subset=[TARGET])
{% endif %}
{% endif %}
{% if p.classification %}

# Of all rows, since a part of them may lack a rare class.
{% endif %}
{% if p.several and p.classification %}
LABELS = [pd.factorize(train[target], sort=True)[1] for target in TARGETS]
{% elif p.numbered %}
CLASSES = sorted(train[TARGET].unique(), key=float)
{% elif p.classification %}
CLASSES = pd.factorize(train[TARGET], sort=True)[1]
{% if p.positive %}
# Predictions are about this class, so it is the second one.
CLASSES = sorted(CLASSES, key=lambda label: {{ p.positive }})
{% endif %}
{% endif %}
{% if p.subsample and p.history %}

# Rows that the sample lacks still belong to the history of their series.
every_row = train[[TIME, {% for name in p.history.series %}{{ name | py }}, {% endfor %}TARGET]]
{% endif %}
{% if p.subsample %}

{% if p.grouping and p.grouping.drawn_whole %}
# The search uses a random part of the groups to stay fast.
if len(train) > {{ p.subsample }}:
    drawn = train[GROUP].drop_duplicates().sample(frac=1.0, random_state=SAMPLE_SEED)
    total = drawn.map(train[GROUP].value_counts()).cumsum()
    drawn = drawn[(total <= {{ p.subsample }}) | (np.arange(len(drawn)) < {{ p.folds }})]
    train = train[train[GROUP].isin(drawn)]
{% else %}
# The search uses a random part of the rows to stay fast.
if len(train) > {{ p.subsample }}:
    train = train.sample(n={{ p.subsample }}, random_state=SAMPLE_SEED)
{% endif %}
{% endif %}
{% if p.subsample and p.history %}
left_out = every_row.drop(index=train.index)
{% endif %}
{% if not p.layout.named or p.folds_file and not p.folds_file.id %}

# Without an ID column, rows are named by their number in the file.
ROWS = train.index.to_numpy()
{% endif %}
{% if p.target_missing or p.subsample or p.huge_target %}
train = train.reset_index(drop=True)
{% endif %}
{% if p.joins | selectattr("before") | list %}


def so_far(table, keys, functions, shares, prefix):
    """For each row of a table in the order of time: the summaries of all rows of its key up to it."""
    by = table.groupby(keys).ngroup()
    total = lambda values: values.groupby(by).cumsum()
    columns = {f"{prefix}rows": table.groupby(by).cumcount() + 1}
    for column, names in functions.items():
        values = table[column]
        if names != ["nunique"]:
            values = values.astype(float)
            values = values.where(np.isfinite(values))
        number = total(values.notna())
        for name in names:
            if name == "nunique":
                found = total(values.notna() & ~table.duplicated([*keys, column]))
            elif name == "last":
                found = values.groupby(by).ffill()
            elif name in ("min", "max"):
                running = values.groupby(by).cummin() if name == "min" else values.groupby(by).cummax()
                found = running.groupby(by).ffill()
            elif name == "mean":
                found = total(values.fillna(0)) / number
            else:
                centred = values - values.groupby(by).transform("mean")
                mean = total(centred.fillna(0)) / number
                squares = total((centred**2).fillna(0)) / number - mean**2
                found = np.sqrt(squares.clip(lower=0) * number / (number - 1))
            columns[f"{prefix}{column}_{name}"] = found
    for share in shares:
        columns[share] = total(table[share]) / columns[f"{prefix}rows"]
    return pd.DataFrame({**{key: table[key] for key in keys}, **columns})


def with_earlier(rows, found, keys, moments, lag, days, number, recent):
    """The rows with what was known of their keys before their own moments, or `lag` days earlier if the table goes on."""
    codes = found[keys].drop_duplicates()
    codes["key of the row"] = np.arange(len(codes))
    known_at = moments.where(moments > 0, moments - lag)
    own = rows[keys].assign(**{"number of the row": rows.index, "moment of the row": known_at, "own moment": moments})
    own = own.dropna().merge(codes, on=keys).sort_values("moment of the row")
    found = found.merge(codes, on=keys).drop(columns=keys).sort_values("moment of the row", kind="stable")
    by = {"on": "moment of the row", "by": "key of the row"}
    known = pd.merge_asof(own, found, allow_exact_matches=False, **by)
    for name, time in recent.items():
        before = own[["key of the row"]].assign(
            **{"moment of the row": np.minimum(own["own moment"] - time, own["moment of the row"])}
        )
        before = pd.merge_asof(before, found[[*by.values(), number]], **by)
        known[name] = (1 - before[number].fillna(0) / known[number]).clip(lower=0)
    rows = rows.join(known.set_index("number of the row").drop(columns=[*keys, *by.values(), "own moment"]))
    rows[days] = rows[days].sub(moments, axis=0)
    return rows


{% endif %}
{% for join in p.joins recursive %}
{% if join.joins %}
{{ loop(join.joins) }}
{% endif %}
{% set table = join.name ~ "_table" %}

# {{ join.name }} has {{ "one row for each key" if join.unique else "several rows for a key, which are summarised" }}.
{{ table }} = pd.read_csv({{ join.file | py }}{% if join.as_text %}, dtype={{ "{" }}{% for name in join.as_text %}{{ name | py }}: str{{ ", " if not loop.last }}{% endfor %}{{ "}" }}{% endif %}{{ ", keep_default_na=False, na_values=MISSING" if p.words }}{{ ", low_memory=False" if p.in_parts }}){{ ".drop_duplicates(" ~ (join.own | py_list) ~ ")" if join.unique }}
{% if join.nearly_numbers %}
# Words and blanks among numbers count as missing.
numbers = {{ join.nearly_numbers | py_list }}
{{ table }}[numbers] = {{ table }}[numbers].apply(pd.to_numeric, errors="coerce")
{% endif %}
{% for further in join.joins %}
{{ table }} = {{ table }}.merge({{ further.name }}_table, on={{ further.keys | py_list }}, how="{{ "inner" if further.tells_keys else "left" }}")
{% endfor %}
{% if join.unique %}
{{ table }} = {{ table }}.set_index({{ join.own | py_list }}).add_prefix({{ (join.name ~ "_") | py }}).reset_index()
{% else %}
{% if join.order %}
# Dates are days before the last one, and rows are in their order.
moments = {{ moments(p.own_dates, table ~ "[" ~ (join.order.column | py) ~ "]", "True" if join.order.day_first else "") }}
{% for date in join.order.further %}
further = {{ moments(p.own_dates, table ~ "[" ~ (date.column | py) ~ "]", "True" if date.day_first else "") }}
moments = pd.concat([moments, further], axis=1).max(axis=1)
{% endfor %}
last = moments.max()
{{ table }}[{{ join.order.column | py }}] = (moments - last) / pd.Timedelta(days=1)
{{ table }} = {{ table }}.sort_values({{ join.order.column | py }}, kind="stable", na_position="first")
{% endif %}
{% if join.shares %}
# The share of each value among the rows of a key is the mean of these columns.
{% for share in join.shares %}
{{ table }}[{{ share.name | py }}] = {{ table }}[{{ share.column | py }}] == {{ share.value }}
{% endfor %}
{% endif %}
{% if join.before %}
# Single dates far from all others do not count.
low, high = {{ table }}[{{ join.order.column | py }}].quantile([0.01, 0.99])
# Only the keys of training and test rows are of use.
keys = pd.concat([rows[{{ join.keys | py_list }}] for rows in (train, test)]).drop_duplicates().set_axis({{ join.own | py_list }}, axis=1)
{{ table }} = so_far(
    {{ table }}.dropna(subset=[*keys.columns, {{ join.order.column | py }}]).merge(keys, on=list(keys.columns)),
    list(keys.columns),
    {
{% for pair in join.summaries %}
        {{ pair[0] | py }}: {{ pair[1] | py_list }},
{% endfor %}
    },
    {{ "[" }}{% for share in join.shares %}{{ share.name | py }}{{ ", " if not loop.last }}{% endfor %}{{ "]" }},
    {{ (join.name ~ "_") | py }},
)
{{ table }}["moment of the row"] = {{ table }}[{{ (join.name ~ "_" ~ join.order.column ~ "_max") | py }}]
{% else %}
grouped = {{ table }}.groupby({{ join.own | py_list }})
{% if join.summaries %}
{{ table }} = grouped.agg(
    {
{% for pair in join.summaries %}
        {{ pair[0] | py }}: {{ pair[1] | py_list }},
{% endfor %}
    }
)
{{ table }}.columns = [{{ (join.name ~ "_") | py }} + "_".join(pair) for pair in {{ table }}.columns]
{{ table }}[{{ (join.name ~ "_rows") | py }}] = grouped.size()
{% else %}
{{ table }} = grouped.size().to_frame({{ (join.name ~ "_rows") | py }})
{% endif %}
{% if join.shares %}
shares = {{ "[" }}{% for share in join.shares %}{{ share.name | py }}, {% endfor %}{{ "]" }}
{{ table }}[shares] = grouped[shares].mean()
{% endif %}
{{ table }} = {{ table }}.reset_index()
{% endif %}
{% endif %}
{% if join.own != join.keys %}
{{ table }} = {{ table }}.rename(columns=dict(zip({{ join.own | py_list }}, {{ join.keys | py_list }})))
{% endif %}
{% if join.before %}
# The dates of rows as days, too. Summarised dates become days before them.
moments = [
    ({{ moments(p.own_dates, "rows[" ~ (join.before.column | py) ~ "]", "True" if join.before.day_first else "") }} - last) / pd.Timedelta(days=1)
    for rows in (train, test)
]
# The share of rows in the last part of the table's time before a row.
recent = {{ "{" }}{% for pair in join.recent %}{{ pair[1] | py }}: (high - low) / {{ pair[0] }}{{ ", " if not loop.last }}{% endfor %}{{ "}" }}
days = [{{ (join.name ~ "_" ~ join.order.column ~ "_min") | py }}, {{ (join.name ~ "_" ~ join.order.column ~ "_max") | py }}]
train, test = (
    with_earlier(rows, {{ table }}, {{ join.keys | py_list }}, own, {{ join.lag }}, days, {{ (join.name ~ "_rows") | py }}, recent)
    for rows, own in zip((train, test), moments)
)
{% elif loop.depth0 == 0 and not keeps_model %}
train = train.merge({{ table }}, on={{ join.keys | py_list }}, how="left")
test = test.merge({{ table }}, on={{ join.keys | py_list }}, how="left")
{% endif %}
{% endfor %}
{% if p.time and p.time.unit %}

# Times are names of {{ "days" if p.time.unit == "day" else "halves" if p.time.unit == "half" else p.time.unit ~ "s" }}.
import re


def first_day(name):
    """Its first day, as a date."""
    numbers = [int(number) for number in re.findall("[0-9]+", name)]
    year = next(number for number in numbers if number >= 1600)
{% if p.time.unit == "week" %}
    week, day = [*(number for number in numbers if number != year), 1][:2]
    return pd.Timestamp.fromisocalendar(year, 1, 1) + pd.Timedelta(days=7 * (week - 1) + day - 1)
{% elif p.time.unit == "year" %}
    return pd.Timestamp(year, 1, 1)
{% else %}
    part = next(number for number in numbers if number != year)
{% if p.time.unit == "day" %}
    return pd.Timestamp(year, 1, 1) + pd.Timedelta(days=part - 1)
{% else %}
    return pd.Timestamp(year, {{ "part" if p.time.unit == "month" else "3 * part - 2" if p.time.unit == "quarter" else "6 * part - 5" }}, 1)
{% endif %}
{% endif %}

{% endif %}
{% if p.derived.ways %}


def kilometres(degrees):
    """The way from one place to another, whose latitude and longitude are columns of `degrees`: in a straight line on the
    earth, to the north, and to the east."""
    degrees = degrees.apply(pd.to_numeric, errors="coerce").astype(float)
    latitude, longitude, to_latitude, to_longitude = degrees.where(degrees.abs() <= 360).to_numpy().T
    one, other = np.radians(latitude), np.radians(to_latitude)
    turn = np.radians((to_longitude - longitude + 180) % 360 - 180)
    chord = np.sin((other - one) / 2) ** 2 + np.cos(one) * np.cos(other) * np.sin(turn / 2) ** 2
    return 12742 * np.arcsin(np.sqrt(np.minimum(chord, 1))), 6371 * (other - one), 6371 * turn * np.cos((one + other) / 2)

{% endif %}
{% if computes_columns %}


def prepared(table):
    """The rows of a table with further columns, each computed from its own row."""
    table = table.copy(deep=False)
{% if keeps_model %}
{% for join in p.joins %}
    table = table.merge({{ join.name }}_table, on={{ join.keys | py_list }}, how="left")
{% endfor %}
{% endif %}
{% if p.time and p.time.unit %}
    if TIME in table:
        table[TIME] = table[TIME].map({name: first_day(name) for name in table[TIME].dropna().unique()})
{% endif %}
{% if p.derived.names %}
    # The order of these numbers may mean nothing, so they are categories, too.
{% for pair in p.derived.names %}
    table[{{ pair[1] | py }}] = pd.to_numeric(table[{{ pair[0] | py }}], errors="coerce").astype(float).astype("str")
{% endfor %}
{% endif %}
{% if p.derived.codes %}
    # The parts of codes.
{% for code in p.derived.codes %}
    parts = table[{{ code.column | py }}].astype("str").where(table[{{ code.column | py }}].notna()).str.extract({{ code.pattern | py }})
{% if code.single %}
    # Letters and digits as numbers, in their order.
    parts = parts.apply(lambda letters: letters.map(ord, na_action="ignore"))
{% endif %}
{% for pair in code.numbers %}
    table[{{ pair[1] | py }}] = pd.to_numeric(parts[{{ pair[0] }}]{{ '.str.replace(",", "")' if not code.single }}, errors="coerce")
{% endfor %}
{% for pair in code.words %}
    table[{{ pair[1] | py }}] = parts[{{ pair[0] }}]
{% endfor %}
{% endfor %}
{% endif %}
{% if p.derived.spans %}
    # Days between dates.
    moments = {column: {{ moments(p.own_dates, "table[column]", "column in DAY_FIRST" if p.columns.day_first else "") }} for column in DATES}
{% for span in p.derived.spans %}
    table[{{ span.name | py }}] = (moments[{{ span.to | py }}] - moments[{{ span.from | py }}]) / pd.Timedelta(days=1)
{% endfor %}
{% endif %}
{% if p.derived.ways %}
{% for way in p.derived.ways %}
    table[{{ way.names[0] | py }}], table[{{ way.names[1] | py }}], table[{{ way.names[2] | py }}] = kilometres(table[{{ (way.from + way.to) | py_list }}])
{% endfor %}
{% endif %}
{% if p.derived.differences or p.derived.equals %}
    # What two rows of the same table differ in.
{% for pair in p.derived.differences %}
    table[{{ pair[1] | py }}] = pd.to_numeric(table[{{ pair[0][0] | py }}], errors="coerce") - pd.to_numeric(table[{{ pair[0][1] | py }}], errors="coerce")
{% endfor %}
{% for pair in p.derived.equals %}
    table[{{ pair[1] | py }}] = (table[{{ pair[0][0] | py }}] == table[{{ pair[0][1] | py }}]).astype(float)
{% endfor %}
{% endif %}
    return table


train, test = prepared(train), prepared(test)
{% endif %}

{% if p.several and p.classification %}
# One column of 0 and 1 for each target.
codes = [{label: code for code, label in enumerate(labels)} for labels in LABELS]
y = np.column_stack([train[target].map(code) for target, code in zip(TARGETS, codes)])
{% elif p.several %}
y = train[TARGETS].to_numpy(dtype=float)
{% elif p.classification %}
y = train[TARGET].map({label: code for code, label in enumerate(CLASSES)}).to_numpy()
{% else %}
y = train[TARGET].to_numpy(dtype=float)
{% endif %}
{% if p.weight %}
WEIGHTS = train[WEIGHT].to_numpy(dtype=float)
{% endif %}
