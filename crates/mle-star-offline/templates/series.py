# === Series ===
{% if p.history.series %}
SERIES = {{ p.history.series | py_list }}
{% endif %}

# The time and the series of the rows of both tables, the training rows first.
{% if p.subsample %}
# The rows that the sample lacks come last.
tables = pd.concat([table[[TIME{{ ", *SERIES" if p.history.series }}]] for table in (train, test, left_out)], ignore_index=True)
LEFT_OUT = np.arange(len(train) + len(test), len(tables))
{% else %}
tables = pd.concat([train[[TIME{{ ", *SERIES" if p.history.series }}]], test[[TIME{{ ", *SERIES" if p.history.series }}]]], ignore_index=True)
{% endif %}
{% if p.time.is_date %}
MOMENTS = {{ moments(p.own_dates, "tables[TIME]", "True" if p.time.day_first else "") }}
CLOCK = ((MOMENTS - pd.Timestamp("2000-01-01", tz="UTC")) / pd.Timedelta(days=1)).to_numpy(dtype=float)
{% else %}
CLOCK = pd.to_numeric(tables[TIME], errors="coerce").to_numpy(dtype=float)
{% endif %}
{% if p.history.series %}
CODES = tables[SERIES].astype("str").groupby(SERIES, dropna=False).ngroup().to_numpy()
{% else %}
# All rows are one series.
CODES = np.zeros(len(tables), dtype=int)
{% endif %}
