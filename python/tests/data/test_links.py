"""How further tables join, which of their rows are known too early, and what relates columns."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from mle_star_data import facts, links, questions, relations, roles, split

Tables = Mapping[str, str]


def folder(path: Path, tables: Tables) -> facts.Folder:
    for name, text in tables.items():
        (path / name).write_text(text)
    return facts.open_folder(path)


def rows(header: str, count: range, row: Callable[[int], str]) -> str:
    return "\n".join([header, *map(row, count)]) + "\n"


CLIENTS = {
    "train.csv": "client,city_id,age,y\n1,1,30,0\n2,2,40,1\n3,1,50,0\n",
    "test.csv": "client,city_id,age\n4,2,35\n5,1,45\n",
}
PLOTS = {
    "train.csv": "row,plot,species\n1,1,oak\n2,2,elm\n3,3,oak\n",
    "test.csv": "row,plot\n4,4\n5,5\n",
}
ORDERS = {"orders.csv": "id,client,day,amount,#\n1,1,3,20,5\n2,1,4,20,6\n3,4,5,30,7\n"}
NAMED = {"clients.csv": "client,name,rank\n1,Ann,2\n2,Bob,1\n3,Cem,3\n"}
LINKS: list[tuple[Tables, str, str, list[str]]] = [
    (
        CLIENTS
        | {
            "items.csv": "order,product,pieces\n10,7,1\n10,8,2\n11,7,1\n12,9,4\n",
            "kinds.csv": "kind,margin\nfood,0.1\ntoys,0.3\n",
            "orders.csv": "order,client,day\n10,1,3\n11,1,4\n12,4,5\n",
            "products.csv": "product,kind,price\n7,food,2.5\n8,toys,9.5\n9,food,1.5\n",
        },
        "y",
        "client",
        [
            "orders client=client train many",
            "items order=order orders many",
            "products product=product items one",
            "kinds kind=kind products one",
        ],
    ),
    # The names of a database: its tables call their own rows `id`.
    (
        CLIENTS
        | {
            "cities.csv": "id,country_id,people\n1,1,9.5\n2,2,3.5\n",
            "countries.csv": "id,income\n1,4.5\n2,7.5\n",
            "visits.csv": "id,city_id,days\n1,1,3\n2,1,4\n3,2,4\n",
        },
        "y",
        "client",
        [
            "cities id=city_id train one",
            "visits city_id=city_id train many",
            "countries id=country_id cities one",
        ],
    ),
    # Ranges without a common value, values that repeat on both sides, numbers and texts, other values.
    *(
        (CLIENTS | ORDERS | other, "y", "client", ["orders client=client train many"])
        for other in (
            {"rates.csv": "day,rate\n2000,0.2\n2001,0.3\n2002,0.4\n"},
            {"prices.csv": "amount,sort\n20,a\n20,b\n30,c\n"},
            {"days.csv": "day,rate\nmonday,0.2\nfriday,0.3\nsunday,0.4\n"},
        )
    ),
    (
        CLIENTS | NAMED | {"films.csv": "name,stars\nHeat,1.5\nUp,2.5\nAlien,3.5\n"},
        "y",
        "client",
        ["clients client=client train one"],
    ),
    # The first of the columns with a value for each row is not the key.
    (
        CLIENTS
        | {
            "items.csv": "client,product,price\n1,7,30\n2,8,20\n1,9,10\n3,7,30\n",
            "products.csv": "price,product,weight\n30,7,1\n20,8,1\n10,9,2\n",
        },
        "y",
        "client",
        ["items client=client train many", "products product=product items one"],
    ),
    # The target links nothing.
    (
        PLOTS
        | {
            "plots.csv": "plot,species,wet\n1,oak,3\n2,elm,4\n3,oak,3\n4,ash,2\n",
            "species.csv": "species,height\noak,20.5\nelm,30.5\nash,25.5\n",
        },
        "species",
        "row",
        ["plots plot=plot train one"],
    ),
]


def words(found: facts.Folder, target: str, id: str) -> list[str]:
    name = [Path(table.file).stem for table in found.auxiliary]
    return [
        f"{name[link.table]} {'+'.join(link.own)}={'+'.join(link.columns)} "
        f"{'train' if link.to is None else name[link.to]} {'one' if link.unique else 'many'}"
        for link in links.find(found, target, id)
    ]


@pytest.mark.parametrize(("tables", "target", "id", "expected"), LINKS)
def test_tables_are_linked(tables: Tables, target: str, id: str, expected: list[str], tmp_path: Path) -> None:
    assert words(folder(tmp_path, tables), target, id) == expected


NAMES = ["foxes", "bears", "owls", "crows", *"abcdefgh"]
ONES = [("home_team", "away_team"), ("team_a", "team_b"), ("homeTeam", "awayTeamId"), ("team", "opponent")]


@pytest.mark.parametrize(("one", "other"), ONES)
def test_columns_refer_to_the_same_table_in_several_roles(one: str, other: str, tmp_path: Path) -> None:
    def match(at: int) -> str:
        return f"{at},{NAMES[at % 4]},{NAMES[(at * 3 + 1) % 4]},20{at}"

    teams = rows("team,rank,town", range(12), lambda at: f"{NAMES[at]},{at},c{at % 3}")
    train = rows(f"match,{one},{other},season,y", range(6), lambda at: f"{match(at)},0")
    test = rows(f"match,{one},{other},season", range(6, 12), match)
    found = folder(tmp_path, {"train.csv": train, "test.csv": test, "teams.csv": teams})
    assert words(found, "y", "match") == [f"teams team={name} train one" for name in (one, other)]


Day = Callable[[int], int]


def early(row: int) -> int:
    return 61 + row % 50


def any_day(row: int) -> int:
    return 61 + row * 7 % 200


def every_eight(after: int) -> Day:
    return lambda row: row // 40 * 8 + after


CUTOFFS: list[tuple[tuple[str, str], Day, Day, float | None]] = [
    (("asked", "bought"), early, lambda row: 221 + row % 50, 0.0),
    (("asked", "bought"), any_day, any_day, None),
    # From the end of the events, 21 October, to the test rows of 3 December.
    (("asked", "bought"), early, lambda row: 300 + row % 20, 43.0),
    # A date of the same name is no key if it is hardly ever the same. Where it is, rows of later days do not join.
    (("day", "day"), any_day, any_day, 0.0),
    (("day", "day"), every_eight(80), every_eight(80), None),
    (("day", "day"), every_eight(40), every_eight(160), None),
]


def events(header: str, clients: range, day: Day) -> str:
    def row(at: int) -> str:
        return f"{at},{at % 40},2024-{day(at) // 28 + 1:02}-{day(at) % 28 + 1:02},{at % 2}"

    return rows(header, clients, row)


@pytest.mark.parametrize(("names", "train", "test", "lag"), CUTOFFS)
def test_later_rows_count_if_only_training_rows_have_them(
    names: tuple[str, str], train: Day, test: Day, lag: float | None, tmp_path: Path
) -> None:
    date, own_date = names
    tables = {
        "train.csv": events(f"row,client,{date},y", range(80), train),
        "test.csv": events(f"row,client,{date},z", range(80, 160), test),
        # Each client has an event every eight days of ten months.
        "events.csv": events(f"event,client,{own_date},cost", range(1400), lambda row: row // 40 * 8),
    }
    found = folder(tmp_path, tables)
    linked = links.find(found, "y", "row")
    own = (links.Date(own_date, False),)
    expected = links.Cutoff(links.Date(date, False), own, ("client",), ("client",), None, lag or 0.0)
    assert links.cutoffs(found, linked, linked[0], None) == ([] if lag is None else [expected])


def test_payments_lead_to_clients_by_way_of_accounts(tmp_path: Path) -> None:
    def client(at: int) -> str:
        return f"{at},{at},2024-{4 if at < 300 else 11:02}-{at % 20 + 1:02},{at % 2}"

    tables = {
        "train.csv": rows("id,client_id,opened,y", range(300), client),
        "test.csv": rows("id,client_id,opened,z", range(300, 420), client),
        "accounts.csv": rows("account_id,client_id,kind", range(600), lambda at: f"{at},{at * 11 % 420},k{at % 2}"),
        "payments.csv": rows(
            "payment_id,account_id,paid",
            range(3000),
            lambda at: f"{at},{at * 11 % 600},2024-{at * 7 % 10 + 1:02}-{at % 28 + 1:02}",
        ),
    }
    (tmp_path / "data").mkdir()
    folder(tmp_path / "data", tables)
    told = roles.inspect(str(tmp_path / "data"), {"target": "y", "id": "id", "metric": "ROC-AUC"})
    found = questions.answer({"question": "relations", "folder": str(tmp_path / "data"), "facts": told})
    assert [link["to"] for link in found["links"]] == [None, 0]
    assert found["links"][0]["cutoffs"] == []
    assert found["links"][1]["cutoffs"] == [
        {
            "date": {"column": "opened", "day_first": False},
            "own_dates": ({"column": "paid", "day_first": False},),
            "lag": found["links"][1]["cutoffs"][0]["lag"],
            "own": ("client_id",),
            "columns": ("client_id",),
            "way": {"table": 0, "columns": ("account_id",), "own": ("account_id",)},
        }
    ]


def label(row: int) -> str:
    return str(row * 7 % 5 % 2)


def price(row: int) -> str:
    return str(row * 7919 % 1009)


Cell = Callable[[int], str]
DETERMINED: list[tuple[str, Cell, Cell, bool]] = [
    ("the same in words", lambda row: ["no", "yes"][row * 7 % 5 % 2], label, True),
    ("in some rows", lambda row: label(row) if row % 3 == 0 else "", label, True),
    ("almost", lambda row: "0" if row == 299 else label(row), label, False),
    ("the logarithm", lambda row: f"{np.log1p(row * 7919 % 1009):.6f}", price, True),
    ("a name for each row", lambda row: f"n{row}", label, False),
    ("groups with one class", lambda row: f"g{row // 10}", lambda row: str(row // 10 % 2), False),
    ("sorted classes", str, lambda row: str(int(row > 150)), False),
    ("falling numbers", lambda row: str(-row), lambda row: str(row * row), True),
    ("equal numbers with other targets", lambda row: str(row // 2), str, False),
]


@pytest.mark.parametrize(("why", "x", "y", "expected"), DETERMINED, ids=lambda one: one if type(one) is str else "")
def test_columns_from_which_the_target_follows_are_found(
    why: str, x: Cell, y: Cell, expected: bool, tmp_path: Path
) -> None:
    text = rows("id,x,y", range(300), lambda row: f"{row},{x(row)},{y(row)}")
    found = folder(tmp_path, {"train.csv": text})
    assert relations.determinants(found.train, "y", ["id"]) == (["x"] if expected else [])


def drawn(row: int, below: int) -> int:
    """A number that has nothing to do with others."""
    return int(np.random.default_rng([row, below]).integers(below))


def place(row: int) -> int:
    return row % 5 - (row % 70 == 1)


SERIES: list[tuple[str, Cell, list[str]]] = [
    (
        "id,day,store,customers,open",
        lambda row: (
            f"{row},2024-{row // 336 + 1:02}-{row // 12 % 28 + 1:02},s{row % 12},{drawn(row, 90)},{drawn(row, 2)}"
        ),
        ["store"],
    ),
    # Days that a store lacks, and a few rows twice.
    ("day,x", lambda row: f"{row // 5},k{place(row) * 3 + drawn(row // 5 * 5 + place(row), 3)}", ["x"]),
    ("day,town,product", lambda row: f"{row // 12},t{row % 3},{row // 3 % 4}", ["town", "product"]),
    ("day,person", lambda row: f"{row // 200},p{row % 200}", ["person"]),
    # The time of each row is its own: only a name shows a series.
    ("day,sensor,x", lambda row: f"{row},{row % 7},{row % 11}", ["sensor"]),
    ("day,x", lambda row: f"{row},{row % 7}", []),
    ("day,customer", lambda row: f"{row // 12},{drawn(row, 20)}", []),
    ("day,trip", lambda row: f"{row // 12},{row}", []),
]


@pytest.mark.parametrize(("header", "cells", "expected"), SERIES)
def test_series_meet_each_time_once(header: str, cells: Cell, expected: list[str], tmp_path: Path) -> None:
    tables = {"train.csv": rows(header, range(600), cells), "test.csv": rows(header, range(600, 660), cells)}
    found = relations.Data(folder(tmp_path, tables), {}).tables
    assert split.series(found, "day", lambda name: name == "id") == expected
