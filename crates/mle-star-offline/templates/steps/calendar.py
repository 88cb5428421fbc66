    # Calendar parts, with the year's cycle on a circle so that December is next to January.
    for column in DATES:
        moment = {{ moments(p.own_dates, "frame[column]", "column in DAY_FIRST" if p.columns.day_first else "") }}
        x[column + "_year"] = moment.dt.year.astype(float)
        x[column + "_day"] = moment.dt.day.astype(float)
        x[column + "_hour"] = moment.dt.hour + moment.dt.minute / 60
        x[column + "_day_of_year"] = moment.dt.day_of_year.astype(float)
        x[column + "_weekend"] = (moment.dt.day_of_week >= 5).astype(float)
        angle = 2 * np.pi * moment.dt.day_of_year / 365.25
        x[column + "_sin"], x[column + "_cos"] = np.sin(angle), np.cos(angle)
        # Days from Easter, which holidays of spring follow, and from Christmas.
        from dateutil.easter import easter

        years = moment.dt.year.dropna().unique()
        easters = {year: pd.Timestamp(easter(int(year))) for year in years if 1583 <= year <= 4099}
        days = moment.dt.tz_localize(None).dt.normalize()
        x[column + "_from_easter"] = (days - pd.to_datetime(moment.dt.year.map(easters))).dt.days.clip(-60, 60).astype(float)
        x[column + "_from_christmas"] = (moment.dt.day_of_year + 190.0) % 366 - 183
