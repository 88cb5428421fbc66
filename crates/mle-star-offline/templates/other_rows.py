{% set keeps_model = not p.history and not (p.joins | selectattr("before") | list) %}
{% set computes_columns = (keeps_model and p.joins) or (p.time and p.time.unit) or p.derived.names or p.derived.codes or p.derived.spans or p.derived.ways or p.derived.differences or p.derived.equals %}
# === Other rows ===
COLUMNS = list(dict.fromkeys([*submission.columns, *answers(final)]))


def read(file, at_once):
    """The rows of a file like the test table, so many at a time."""
    is_number = lambda kind: pd.api.types.is_numeric_dtype(kind) and not pd.api.types.is_bool_dtype(kind)
    texts = {name: str for name, kind in KINDS.items() if not pd.api.types.is_numeric_dtype(kind)}
    options = {{ "{" }}{{ '"keep_default_na": False, "na_values": MISSING' if p.words }}{{ "}" }}
    for rows in pd.read_csv(file, dtype=texts, chunksize=at_once, low_memory=False, **options):
        # Words among numbers count as missing.
        for name, kind in KINDS.items():
            if is_number(kind) and not is_number(rows[name].dtype):
                rows[name] = pd.to_numeric(rows[name], errors="coerce")
        yield rows


def answers_of(rows):
    """The columns of the submission for other rows{{ ", and the scores of the classes" if p.layout.class_scores }}."""
{% if computes_columns %}
    values = decide(predict(prepared(rows)))
{% else %}
    values = decide(predict(rows))
{% endif %}
{% if p.layout.absent %}
    values = with_absent(values)
{% endif %}
    found = answers(values)
    table = pd.DataFrame({name: np.asarray(found[name] if name in found else rows.get(name)) for name in COLUMNS}, index=rows.index)
{% if p.layout.class_scores %}
    return table, pd.DataFrame(values.round(6), columns=[str(label) for label in CLASSES], index=rows.index)
{% else %}
    return table, None
{% endif %}


if KEEPS_MODEL:
    import cloudpickle

    class Keeper(cloudpickle.Pickler):
        """Writes boosters as the files of their libraries, and everything else into one file."""

        def persistent_id(self, value):
            library, kind = type(value).__module__.split(".")[0], type(value).__qualname__
            endings = {("lightgbm", "Booster"): "txt", ("xgboost", "Booster"): "ubj", ("catboost", "CatBoostClassifier"): "cbm", ("catboost", "CatBoostRegressor"): "cbm"}
            if (library, kind) not in endings:
                return None
            # Values stay in memory, so their numbers are theirs.
            number = kept.setdefault(id(value), len(kept) + 1)
            name = f"{library}-{number}.{endings[library, kind]}"
            value.save_model(f"./final/model/{name}")
            return library, kind, name

    kept = {}
    with open("./final/model/model.pickle", "wb") as file:
        Keeper(file).dump((read, answers_of))
