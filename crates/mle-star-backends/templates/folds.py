# === Folds ===
{% if p.stratified %}
from sklearn.model_selection import StratifiedKFold

FOLDS = list(StratifiedKFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED).split(train, y))
{% else %}
from sklearn.model_selection import KFold

FOLDS = list(KFold(n_splits={{ p.folds }}, shuffle=True, random_state=SEED).split(train))
{% endif %}
