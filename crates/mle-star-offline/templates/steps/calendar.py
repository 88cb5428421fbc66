    # Calendar parts, with the year's cycle on a circle so that December is next to January.
    for column in DATES:
        moment = pd.to_datetime(frame[column], errors="coerce", format="mixed", utc=True{{ ", dayfirst=column in DAY_FIRST" if p.columns.day_first }})
        x[column + "_year"] = moment.dt.year.astype(float)
        x[column + "_day"] = moment.dt.day.astype(float)
        x[column + "_hour"] = moment.dt.hour + moment.dt.minute / 60
        x[column + "_day_of_year"] = moment.dt.day_of_year.astype(float)
        x[column + "_weekend"] = (moment.dt.day_of_week >= 5).astype(float)
        angle = 2 * np.pi * moment.dt.day_of_year / 365.25
        x[column + "_sin"], x[column + "_cos"] = np.sin(angle), np.cos(angle)
