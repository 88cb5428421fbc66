# === Folds ===
{% if p.grouping %}
{% if p.grouping.stratified %}
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold
{% else %}
from sklearn.model_selection import GroupKFold
{% endif %}

# The rows to predict belong to groups that are not in the training table: validation is by other groups, too.
{% if p.grouping.stratified %}
SPLITTER = StratifiedGroupKFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED)
FOLDS = list(SPLITTER.split(train, y, groups=train[GROUP]))
{% else %}
FOLDS = list(GroupKFold(n_splits={{ p.folds }}).split(train, groups=train[GROUP]))
{% endif %}


def inner_folds(fit):
    """Folds of the fitting rows for what is cross-fitted within them; groups stay whole."""
    groups = train.loc[fit.index, GROUP]
    return list(GroupKFold(n_splits=min(5, groups.nunique())).split(fit, groups=groups))
{% elif p.stratified %}
from sklearn.model_selection import StratifiedKFold

FOLDS = list(StratifiedKFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED).split(train, y))
{% else %}
from sklearn.model_selection import KFold

FOLDS = list(KFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED).split(train))
{% endif %}
