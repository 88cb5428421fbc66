# === Folds ===
{% set reading %}
# The program that made this script wrote the file; a copy lies beside it.
folds = pd.read_csv("./input/folds.csv"{{ p.reading }})
{% if p.folds_file and p.folds_file.id %}
fold = train[{{ p.folds_file.id | py }}].map(folds.groupby({{ p.folds_file.id | py }})["fold"].first()).to_numpy(dtype=float)
{% else %}
fold = pd.Series(ROWS).map(folds.set_index("row")["fold"]).to_numpy(dtype=float)
{% endif %}
{% endset %}
{% if p.time %}
{% if p.time.is_date %}
times = {{ moments(p.own_dates, "train[TIME]", "True" if p.time.day_first else "") }}
{% else %}
times = train[TIME]
{% endif %}
{% if p.time.groups %}
# A group is as late as its first row.
times = times.groupby(train[GROUP]).transform("min").fillna(times)
{% endif %}
{% if p.time.series %}
# Each series ends at a time of its own, so times count from the end of its series.
times = times - times.groupby([train[column] for column in {{ p.time.series | py_list }}]).transform("max")
{% endif %}
# Rows in the order of time. Those without a time have the code -1, come first and are never validated.
codes = pd.factorize(times, sort=True)[0]
ORDER = np.argsort(codes, kind="stable")

{% if p.folds_file and p.time.series %}
# Each fold is a stretch of each series like that of the test table, and is validated by models of earlier stretches{{ ", which end as long before it as the training rows before the test rows" if p.folds_file.gap }}.
# Rows before the first stretch of a series are in no fold.
{{ reading | trim }}
FOLDS = []
for number in np.unique(fold[~np.isnan(fold)]):
    later = ORDER[fold[ORDER] == number]
{% if p.folds_file.gap %}
    first = times.where(fold == number).groupby([train[column] for column in {{ p.time.series | py_list }}]).transform("min")
    late = (fold >= number) | (times >= first - {{ "pd.Timedelta(seconds=" ~ p.folds_file.gap ~ ")" if p.time.is_date else p.folds_file.gap }}).to_numpy()
{% else %}
    late = fold >= number
{% endif %}
    FOLDS.append((ORDER[~late[ORDER]], later))

# Only these rows have out-of-fold predictions, in this order.
VALIDATED = np.concatenate([later for _, later in FOLDS])
TRUTH = y[VALIDATED]

{% elif p.folds_file %}
# Each fold is a period like that of the test table, and is validated by models of earlier rows{{ ", which end as long before it as the training rows before the test rows" if p.folds_file.gap }}.
# Earlier rows are in no fold.
{{ reading | trim }}
FOLDS = []
for number in np.unique(fold[~np.isnan(fold)]):
    later = ORDER[fold[ORDER] == number]
{% if p.folds_file.gap %}
    limit = times.iloc[later].min() - {{ "pd.Timedelta(seconds=" ~ p.folds_file.gap ~ ")" if p.time.is_date else p.folds_file.gap }}
    FOLDS.append((ORDER[~(times.iloc[ORDER] >= limit)], later))
{% else %}
    FOLDS.append((ORDER[codes[ORDER] < codes[later].min()], later))
{% endif %}

# Only these rows have out-of-fold predictions, in this order.
VALIDATED = np.concatenate([later for _, later in FOLDS])
TRUTH = y[VALIDATED]

{% else %}
# The last 45 % of the rows are validated in three parts, each by models of all earlier rows. Parts begin where a new
# time begins, so that rows of the same time stay together; with few times there are fewer parts.
starts = np.flatnonzero(np.diff(codes[ORDER])) + 1
cuts = np.unique([starts[np.abs(starts - share * len(train)).argmin()] for share in (0.55, 0.7, 0.85)])
FOLDS = [(ORDER[:cut], ORDER[cut:end]) for cut, end in zip(cuts, [*cuts[1:], len(train)])]

# Only these rows have out-of-fold predictions, in this order.
VALIDATED = ORDER[cuts[0]:]
TRUTH = y[VALIDATED]

{% endif %}
# Weights and thresholds for one part are tuned on the other parts; a single part is halved. These are positions in
# VALIDATED.
positions = np.arange(len(VALIDATED))
{% if p.folds_file %}
edges = np.cumsum([len(later) for _, later in FOLDS])[:-1] if len(FOLDS) > 1 else [len(positions) // 2]
{% else %}
edges = cuts[1:] - cuts[0] if len(cuts) > 1 else [len(positions) // 2]
{% endif %}
TUNING = [(np.setdiff1d(positions, part), part) for part in np.split(positions, edges)]
{% elif p.grouping %}
{% set few_groups = p.grouping.groups < 6 or p.folds_file %}
{% if p.grouping.stratified and not p.folds_file %}
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
{% elif few_groups %}
from sklearn.model_selection import GroupKFold, KFold
{% else %}
from sklearn.model_selection import GroupKFold
{% endif %}

{% if p.grouping.given %}
# Whole groups are validated by models of other groups.
{% else %}
# The test rows belong to groups that are not in the training table, so validation uses other groups too.
{% endif %}
{% if p.grouping.gaps %}
# Rows without a group are one group.
GROUPS = pd.Series(pd.factorize(train[GROUP], use_na_sentinel=False)[0], index=train.index)
{% endif %}
{% if p.folds_file %}
{{ reading | trim }}
FOLDS = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in np.unique(fold)]
{% elif p.grouping.stratified %}
SPLITTER = StratifiedGroupKFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED)
FOLDS = list(SPLITTER.split(train, y, groups={{ "GROUPS" if p.grouping.gaps else "train[GROUP]" }}))
{% else %}
FOLDS = list(GroupKFold(n_splits={{ p.folds }}).split(train, groups={{ "GROUPS" if p.grouping.gaps else "train[GROUP]" }}))
{% endif %}


def inner_folds(fit):
    """Folds of the fitting rows for cross-fitting; groups stay whole{{ ", unless there is one" if few_groups }}."""
    groups = {{ "GROUPS.loc[fit.index]" if p.grouping.gaps else "train.loc[fit.index, GROUP]" }}
{% if few_groups %}
    if groups.nunique() == 1:
        return list(KFold(5, shuffle=True, random_state=SEED).split(fit))
{% endif %}
    return list(GroupKFold(n_splits=min(5, groups.nunique())).split(fit, groups=groups))
{% elif p.folds_file %}
# All scripts validate on the same folds, so that their scores can be compared.
{{ reading | trim }}
FOLDS = [(np.flatnonzero(fold != number), np.flatnonzero(fold == number)) for number in np.unique(fold)]
{% elif p.stratified %}
from sklearn.model_selection import StratifiedKFold

FOLDS = list(StratifiedKFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED).split(train, y))
{% else %}
from sklearn.model_selection import KFold

FOLDS = list(KFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED).split(train))
{% endif %}
