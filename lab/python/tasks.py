"""Generated tasks with hidden answers.

tasks.py FOLDER [TASK ...] [--seeds FIRST-LAST] writes

FOLDER/tasks/TASK-SEED/        what agents and scripts may see
FOLDER/answers/TASK-SEED.csv   the hidden answers
FOLDER/tasks.json              metric and scores of a constant and of the best possible prediction

It needs `pip install blake3 pandas scikit-learn`. A task and a seed determine every byte; `lab/tests` compares them with those
that were measured. Each task has noise that nobody can predict, so the best possible prediction is that of somebody who
knows the process.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from math import cos, exp, log, log1p, pi, sin, sqrt
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3
from compare import LOWER_IS_BETTER, score

ID, TARGET = "id", "target"


class Row(NamedTuple):
    """Features, the answer, and the values of a submission by somebody who knows the process."""

    cells: dict[str, object]
    target: str
    best: list[str]


class Draw:
    """The random numbers of a task with a seed, and the tables beside its own."""

    def __init__(self, name: str, seed: int, rows: tuple[int, int]) -> None:
        self.state = int.from_bytes(blake3(f"{name} {seed}".encode()).digest()[:8], "little")
        self.rows = rows
        self.others: dict[str, list[list[object]]] = {}

    def parts(self) -> Iterator[bool]:
        """For each row whether it is one of the test table."""
        yield from [False] * self.rows[0] + [True] * self.rows[1]

    def table(self, name: str, *columns: str) -> list[list[object]]:
        """A further table, to which rows are added."""
        return self.others.setdefault(name, [list(columns)])

    def word(self) -> int:
        """64 bits by Wyrand, as the crate `fastrand` draws them."""
        self.state = (self.state + 0x2D358DCCAA6C78A5) % 2**64
        product = self.state * (self.state ^ 0x8BB84B93962EACC9)
        return (product ^ product >> 64) % 2**64

    def share(self) -> float:
        """At least 0 and below 1."""
        while (value := (self.word() >> 1) * 2.0**-63) >= 1:
            pass
        return value

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.share()

    def below(self, count: int) -> int:
        """A whole number, each as often (Lemire)."""
        while (product := self.word() * count) % 2**64 < 2**64 % count:
            pass
        return product >> 64

    def one(self, values: list | str) -> object:
        return values[self.below(len(values))]

    def chance(self, probability: float) -> bool:
        return self.share() < probability

    def normal(self) -> float:
        """Mean 0 and standard deviation 1 (Box and Muller)."""
        radius = sqrt(-2 * log(1 - self.share()))
        return radius * cos(2 * pi * self.share())

    def normals(self, count: int) -> list[float]:
        return [self.normal() for _ in range(count)]

    def levels(self, count: int, deviation: float) -> list[float]:
        return [deviation * self.normal() for _ in range(count)]

    def exponential(self, mean: float) -> float:
        return -mean * log(1 - self.share())

    def events(self, mean: float) -> int:
        """The number of events of which this many are expected."""
        left, count = mean - self.exponential(1), 0
        while left > 0:
            count += 1
            left -= self.exponential(1)
        return count

    def by_shares(self, shares: list[float]) -> int:
        """A position; the shares sum to 1."""
        left = self.share()
        for position, share in enumerate(shares):
            left -= share
            if left < 0:
                return position
        return len(shares) - 1

    def shuffled(self, values: list) -> list:
        for position in range(len(values) - 1, 0, -1):
            other = self.below(position + 1)
            values[position], values[other] = values[other], values[position]
        return values

    def sometimes(self, missing: float, value: object) -> object:
        """The value, or nothing with this probability."""
        return "" if self.chance(missing) else value

    def outcome(self, cells: dict[str, object], probability: float) -> Row:
        """The answer is 1 with this probability and 0 otherwise."""
        return Row(cells, str(int(self.chance(probability))), [f"{probability:.6f}"])

    def label(self, cells: dict[str, object], probability: float, labels: list[str]) -> Row:
        """The answer is the second label with this probability."""
        return Row(cells, labels[self.chance(probability)], [labels[probability > 0.5]])

    def classes(self, cells: dict[str, object], shares: list[float], labels: list[str]) -> Row:
        return Row(cells, labels[self.by_shares(shares)], [f"{share:.6f}" for share in shares])


def number(cells: dict[str, object], target: float, best: float) -> Row:
    return Row(cells, f"{target:.2f}", [f"{best:.4f}"])


def logistic(margin: float) -> float:
    return 1 / (1 + exp(-margin))


def softmax(margins: list[float]) -> list[float]:
    parts = [exp(margin) for margin in margins]
    return [part / sum(parts) for part in parts]


def wave(hour: int) -> float:
    """A wave of one day: 0 at midnight, 1 at six, 0 at noon, -1 at eighteen o'clock."""
    return sin(2 * pi * hour / 24)


def day(first: date, days: int) -> date:
    return first + timedelta(days=days)


class Task(NamedTuple):
    """The metric, the numbers of training and test rows, and the process, whose docstring agents read."""

    metric: str
    rows: tuple[int, int]
    draw: Callable[[Draw], Iterator[Row]]


# New tasks come last: the first fourteen are those of `lab/trust.md`.
TASKS: dict[str, Task] = {}


def task(metric: str, train: int, test: int) -> Callable:
    def add(process: Callable[[Draw], Iterator[Row]]) -> Callable[[Draw], Iterator[Row]]:
        TASKS[process.__name__] = Task(metric, (train, test), process)
        return process

    return add


@task("accuracy", 2_200, 10_000)
def loyalty(draw: Draw) -> Iterator[Row]:
    """Each row is a customer. Predict whether the customer leaves or stays."""
    # A weak margin with an interaction and a wave; a tenth of `age` is missing.
    for _ in draw.parts():
        age, income, visits, distance, noise = draw.normals(5)
        plan = draw.below(5)
        margin = 0.5 * age - 0.45 * income + 0.5 * age * income + 0.4 * sin(2 * visits) - 0.3 * distance
        cells = {
            "age": draw.sometimes(0.1, f"{45 + 12 * age:.0f}"),
            "income": 40 * exp(0.4 * income),
            "visits": 10 + 3 * visits,
            "distance": 5 * exp(0.6 * distance),
            "rating": 3 + 0.7 * noise,
            "plan": ["basic", "family", "plus", "student", "trial"][plan],
        }
        yield draw.label(cells, logistic(margin + [0.5, -0.4, 0, 0.2, -0.3][plan]), ["leaves", "stays"])


@task("MAE", 2_400, 10_000)
def deliveries(draw: Draw) -> Iterator[Row]:
    """Each row is a delivery. Predict its minutes."""
    # A smooth function of distance, load, hour and courier with Laplace noise, which dominates.
    couriers = draw.levels(15, 2.5)
    for _ in draw.parts():
        distance, hour, courier = draw.exponential(4), draw.below(24), draw.below(15)
        load, rain, x = draw.normals(3)
        rain = max(rain, 0.0)
        minutes = 25 + 9 * sqrt(distance) + 2 * load + 1.5 * load * rain - 3 * wave(hour) + couriers[courier]
        cells = {
            "kilometres": draw.sometimes(0.05, distance),
            "load": 10 + 3 * load,
            "rain": rain,
            "traffic": x,
            "hour": hour,
            "courier": f"k{courier}",
        }
        yield number(cells, minutes + (draw.exponential(9) - draw.exponential(9)), minutes)


@task("ROC-AUC", 2_400, 10_000)
def patients(draw: Draw) -> Iterator[Row]:
    """Each row is a visit of a patient. Predict whether the treatment helps (1) or not (0). The patients of the test
    table are others than those of the training table."""
    # Each patient has a hidden level, which nobody can know of a test patient, and habits that identify the patient and tell
    # nothing about the level.
    first = 100
    for count in (rows // 20 for rows in draw.rows):
        visits = []
        for patient in range(first, first + count):
            level, age, habits = 1.5 * draw.normal(), float(f"{draw.between(25, 85):.0f}"), draw.normals(4)
            for _ in range(20):
                dose, hour, pulse = draw.exponential(1.5), draw.below(24), draw.normal()
                known = 1.6 * log1p(dose) + 0.8 * wave(hour) + 0.03 * (age - 55) + 0.4 * pulse - 1.4
                cells = {"patient_id": f"p{patient}", "age": int(age), "dose": dose, "hour": hour, "pulse": 75 + 9 * pulse}
                for name, habit in zip(["sleep", "steps", "calories", "screen"], habits, strict=True):
                    cells[name] = 50 + 10 * habit + 0.2 * draw.normal()
                visits.append(draw.outcome(cells, logistic(known + level))._replace(best=[f"{logistic(known):.6f}"]))
        first += count
        yield from draw.shuffled(visits)


@task("MAE", 2_600, 6_000)
def demand(draw: Draw) -> Iterator[Row]:
    """Each row is a product in a shop on a day. Predict how many are sold. The rows of the test table are later than
    those of the training table."""
    # Level of the shop, trend, week, promotion, and a price effect that doubles over the time.
    shops = draw.levels(12, 8)
    for is_test in draw.parts():
        days = 365 + draw.below(120) if is_test else draw.below(365)
        shop, promotion, (price, warmth) = draw.below(12), draw.chance(0.2), draw.normals(2)
        time = days / 365
        sales = 100 + shops[shop] + 25 * time + 6 * sin(2 * pi * days / 7) - (6 + 6 * time) * price
        sales += (14 - 4 * time if promotion else 0) + 3 * warmth
        cells = {
            "date": day(date(2024, 1, 1), days),
            "shop": f"shop_{shop}",
            "price": 10 + price,
            "promotion": int(promotion),
            "temperature": 12 + 7 * warmth,
        }
        yield number(cells, sales + 9 * draw.normal(), sales)


@task("average precision", 8_000, 20_000)
def fraud(draw: Draw) -> Iterator[Row]:
    """Each row is a payment. Predict whether it is fraud (1) or not (0). Fraud is rare."""
    # About 3 %, by amount, hour, country, age of the account and earlier payments, with two interactions.
    countries = draw.levels(12, 0.7)
    for _ in draw.parts():
        amount, account, x, y = draw.normals(4)
        hour, country, earlier = draw.below(24), draw.below(12), draw.events(2)
        margin = 0.9 * amount - 0.8 * account + 0.7 * wave(hour) + countries[country] - 0.35 * earlier
        margin += 0.9 * (amount > 1 and account < 0) + 0.4 * x * y - 4.6
        cells = {
            "amount": 60 * exp(amount),
            "account_days": f"{400 * exp(account):.0f}",
            "hour": hour,
            "country": f"c{country:02}",
            "earlier": earlier,
            "device_score": x,
            "network_score": y,
        }
        yield draw.outcome(cells, logistic(margin))


@task("ROC-AUC", 3_000, 10_000)
def contracts(draw: Draw) -> Iterator[Row]:
    """Each row is a contract. Predict whether it is cancelled (1) or not (0)."""
    # `open_letters` is counted after the answer is known in the training table (most of those who cancel have one to three
    # more), and before it in the test table.
    for is_test in draw.parts():
        months, price, calls, speed, x = draw.normals(5)
        contract = draw.below(3)
        margin = -0.7 * months + 0.6 * price + 0.5 * calls * calls - 0.3 * speed + [0.6, 0, -0.7][contract] - 1
        cells = {
            "months": f"{24 * exp(0.6 * months):.0f}",
            "price": 40 + 9 * price,
            "calls": calls,
            "speed": 50 + 15 * speed,
            "usage": 80 * exp(0.5 * x),
            "contract": ["monthly", "yearly", "two years"][contract],
        }
        row = draw.outcome(cells, logistic(margin))
        before = draw.events(0.3)
        after = 1 + draw.below(3) if row.target == "1" and draw.chance(0.9) else 0
        cells["open_letters"] = before if is_test else before + after
        yield row


@task("ROC-AUC", 30_000, 10_000)
def clicks(draw: Draw) -> Iterator[Row]:
    """Each row is a page that was shown. Predict whether it was clicked (1) or not (0)."""
    # A strong margin with a product and a threshold.
    sites = draw.levels(20, 0.8)
    for _ in draw.parts():
        a, b, c, d, e, f = draw.normals(6)
        site, hour = draw.below(20), draw.below(24)
        margin = 1.8 * a - 1.4 * b + 1.2 * c * d + 1.5 * (e > 0.5) + wave(hour) + sites[site] - 0.5
        cells = {"relevance": a, "fatigue": b, "novelty": c, "contrast": d, "length": e, "depth": f}
        yield draw.outcome(cells | {"site": f"site_{site}", "hour": hour}, logistic(margin))


@task("log loss", 2_600, 8_000)
def crops(draw: Draw) -> Iterator[Row]:
    """Each row is a field. Predict the probability of each crop."""
    # A softmax of linear terms, a square and a product; two features are useless.
    for _ in draw.parts():
        rain, sun, acid, slope, x, y = draw.normals(6)
        soil = draw.below(4)
        margins = [
            0.8 * rain - 0.5 * sun,
            0.9 * sun + 0.6 * rain * sun,
            0.7 * acid * acid - 0.6 * slope,
            0.6 * slope - 0.6 * acid,
        ]
        margins[soil] += 0.7
        cells = {
            "rain": 600 + 150 * rain,
            "sun": 1500 + 200 * sun,
            "acidity": 6 + 0.8 * acid,
            "slope": slope,
            "distance": x,
            "altitude": 300 + 80 * y,
            "soil": ["chalk", "clay", "loam", "sand"][soil],
        }
        yield draw.classes(cells, softmax(margins), ["barley", "maize", "rye", "wheat"])


@task("ROC-AUC", 4_000, 10_000)
def merchants(draw: Draw) -> Iterator[Row]:
    """Each row is a sale. Predict whether the customer complains (1) or not (0)."""
    merchants, districts = draw.levels(500, 1.2), draw.levels(120, 0.6)
    for _ in draw.parts():
        # Squares of uniform numbers: small positions are frequent.
        merchant, district = (int(count * (share := draw.share()) * share) for count in (500.0, 120.0))
        amount, weight = draw.normals(2)
        margin = merchants[merchant] + districts[district] + 0.6 * amount - 0.4 * weight
        cells = {"merchant": f"m{merchant:03}", "district": f"d{district:03}"}
        cells |= {"amount": 30 * exp(0.8 * amount), "weight": 2 * exp(0.5 * weight)}
        yield draw.outcome(cells, logistic(margin))


@task("RMSLE", 2_400, 8_000)
def houses(draw: Draw) -> Iterator[Row]:
    """Each row is a house. Predict its price."""
    # Log-normal around a product of area, district, age and condition.
    districts = draw.levels(30, 0.35)
    for _ in draw.parts():
        area, noise = draw.normals(2)
        age, district, condition = draw.exponential(30), draw.below(30), draw.below(5)
        expected = 11.8 + 0.45 * area + districts[district] - 0.25 * log1p(age / 20) + 0.12 * condition * (1 + 0.4 * area)
        cells = {
            "area": 90 * exp(0.4 * area),
            "age": f"{age:.0f}",
            "district": f"q{district}",
            "condition": condition,
            "rooms": 1 + draw.events(2.5),
        }
        yield number(cells, exp(expected + 0.35 * noise), exp(expected))


@task("accuracy", 2_400, 6_000)
def sensors(draw: Draw) -> Iterator[Row]:
    """Each row is a machine with the readings of its sensors. Predict whether it fails or works."""
    # Six of 206 features matter.
    for _ in draw.parts():
        x = draw.normals(206)
        margin = 1.1 * x[17] - 0.9 * x[58] + 0.9 * x[99] * x[17] + 0.8 * x[120] - 0.7 * x[151] + 0.6 * x[200]
        cells = {f"s{position:03}": value for position, value in enumerate(x)}
        yield draw.label(cells, logistic(margin), ["fails", "works"])


@task("quadratic weighted kappa", 3_000, 10_000)
def grades(draw: Draw) -> Iterator[Row]:
    """Each row is a student. Predict the grade, a whole number from 0 to 4."""
    # The number of fixed cuts below a latent sum with logistic noise. The best prediction is the rounded mean of the grade,
    # which is close to optimal for the metric.
    cuts = [-2.2, -0.6, 0.9, 2.4]
    for _ in draw.parts():
        talent, hours, sleep, x = draw.normals(4)
        school = draw.below(8)
        latent = 1.1 * talent + 0.8 * hours - 0.4 * hours * hours + 0.5 * sleep * talent
        latent += [0.4, 0, -0.5, 0.2, 0, 0.6, -0.3, 0][school]
        chance = draw.between(1e-9, 1)
        drawn = latent + log(chance / (1 - chance))
        cells = {
            "earlier_marks": 10 + 2 * talent,
            "hours": 5 + 1.5 * hours,
            "sleep": 7 + sleep,
            "distance": 4 * exp(0.5 * x),
            "school": f"school_{school}",
        }
        mean = sum(logistic(latent - cut) for cut in cuts)
        yield Row(cells, str(sum(drawn > cut for cut in cuts)), [f"{mean:.0f}"])


@task("RMSE", 3_000, 8_000)
def orders(draw: Draw) -> Iterator[Row]:
    """Each row is an order. Predict its value. `customers.csv` describes the customers."""
    # It depends on the order and, more strongly, on income and segment of the customer.
    customers = [(draw.normal(), draw.below(4), draw.exponential(6)) for _ in range(800)]
    table = draw.table("customers.csv", "customer_id", "income", "segment", "years")
    for customer, (income, segment, years) in enumerate(customers):
        segments = ["business", "private", "public", "student"]
        table.append([f"u{customer}", 40 * exp(0.4 * income), segments[segment], f"{years:.1f}"])
    for _ in draw.parts():
        customer = draw.below(800)
        income, segment, years = customers[customer]
        items, month, discount = 1 + draw.events(3), 1 + draw.below(12), draw.between(0, 0.3)
        value = 40 + 6 * items - 60 * discount + 12 * income + [18, 0, 8, -10][segment]
        value += 3 * log1p(years) * (1 + income) + (6 if month > 10 else 0)
        cells = {"customer_id": f"u{customer}", "items": items, "discount": discount, "month": month}
        yield number(cells, value + 14 * draw.normal(), value)


@task("ROC-AUC", 700, 10_000)
def clinic(draw: Draw) -> Iterator[Row]:
    """Each row is an admission. Predict whether the person comes back (1) or not (0)."""
    # Few rows; four of eight features matter.
    for _ in draw.parts():
        x, ward = draw.normals(7), draw.below(4)
        margin = 0.8 * x[0] - 0.7 * x[1] + 0.5 * x[2] * x[2] + [0.5, 0, -0.5, 0][ward] - 0.8
        names = ["pressure", "glucose", "weight", "height", "pulse", "iron", "sodium"]
        cells = dict(zip(names, x, strict=True)) | {"ward": ["east", "north", "south", "west"][ward]}
        yield draw.outcome(cells, logistic(margin))


@task("RMSLE", 2_400, 8_000)
def trips(draw: Draw) -> Iterator[Row]:
    """Each row is a trip by taxi. Predict its minutes. `weather.csv` has the weather of each city and day."""
    # Log-normal around distance, rush hours, district and, more strongly, the weather.
    cities, days, districts = ["north", "south", "west"], 200, draw.levels(25, 0.2)
    table, weather = draw.table("weather.csv", "day", "city", "rain", "wind"), []
    for at in range(days * 3):
        rain = 0.0 if draw.chance(0.45) else draw.exponential(6)
        weather.append((rain, draw.exponential(5) + draw.exponential(5)))
        table.append([day(date(2023, 1, 1), at // 3), cities[at % 3], *(f"{value:.1f}" for value in weather[at])])
    for _ in draw.parts():
        when, city, district = draw.below(days), draw.below(3), draw.below(25)
        hour, kilometres = draw.below(24), 0.5 + draw.exponential(3) + draw.exponential(3)
        rain, wind = weather[when * 3 + city]
        moment = day(date(2023, 1, 1), when)
        is_rush = hour in (7, 8, 16, 17, 18) and moment.weekday() < 5
        speed = 3.3 - (0.35 if is_rush else 0) - 0.28 * log1p(rain) - 0.012 * wind + districts[district]
        minutes = 60 * kilometres / exp(speed)
        cells = {"day": moment, "city": cities[city], "from_district": f"district_{district}", "hour": hour}
        noise = exp(0.15 * draw.normal())
        yield number(cells | {"kilometres": kilometres}, minutes * noise + 1, minutes + 1)


@task("F1", 2_000, 8_000)
def reviews(draw: Draw) -> Iterator[Row]:
    """Each row is the review of a guest. Predict whether the guest comes back (yes) or not (no)."""
    # Words come from a hidden mood, and the answer from mood and price. The best prediction knows the words and how moods
    # choose them, but not the mood.
    good = "great lovely quick friendly tasty fresh warm kind".split()
    bad = "slow cold rude stale noisy dirty late bland".split()
    plain = "the food was and we had a table with people there on".split()
    moods = [step / 10 for step in range(-40, 41)]
    rows, chances = [], []
    for _ in draw.parts():
        mood, price = draw.normal(), 8 + draw.exponential(16)
        words = [draw.one(plain) for _ in range(6 + draw.below(12))]
        kinds = []
        for _ in range(1 + draw.below(4)):
            kinds.append(draw.chance(logistic(2 * mood)))
            word = draw.one(good if kinds[-1] else bad)
            words.insert(draw.below(len(words) + 1), word)
        cells = {"review": " ".join(words), "price": price, "shop": f"shop_{draw.below(60)}"}
        cells["channel"] = draw.one(["app", "phone", "web"])
        back = {one: logistic(2 * one - 0.04 * (price - 24) - 2.2) for one in [mood, *moods]}
        rows.append(Row(cells, "yes" if draw.chance(back[mood]) else "no", []))
        likely = [
            exp(-one * one / 2) * logistic(2 * one) ** sum(kinds) * logistic(-2 * one) ** (len(kinds) - sum(kinds))
            for one in moods
        ]
        chances.append(sum(back[one] * weight for one, weight in zip(moods, likely, strict=True)) / sum(likely))
    limit = limit_for_f1(chances[draw.rows[0] :])
    for row, chance in zip(rows, chances, strict=True):
        yield row._replace(best=["yes" if chance >= limit else "no"])


def limit_for_f1(chances: list[float]) -> float:
    """The chance from which on `yes` has the best expected F1."""
    hits, best, limit, total = 0.0, 0.0, 1.0, sum(chances)
    for count, chance in enumerate(sorted(chances, reverse=True), 1):
        hits += chance
        if (expected := 2 * hits / (count + total)) > best:
            best, limit = expected, chance
    return limit


@task("log loss", 3_000, 8_000)
def claims(draw: Draw) -> Iterator[Row]:
    """Each row is a contract of a car insurance. Predict the probability of each size of the claim."""
    # Three classes of very different sizes, a softmax of the effects of 120 makers, driver and car; two features have gaps.
    makers = draw.levels(120, 0.9)
    for _ in draw.parts():
        maker, region, previous = draw.below(120), draw.below(8), draw.events(0.4)
        power, mileage = draw.normals(2)
        age = 18 + draw.below(70)
        margin = makers[maker] + (0.8 if age < 25 else 0) + 0.9 * previous + 0.4 * power + 0.5 * mileage
        margin += [0, 0, 0.6, 0, 0.6, 0, -0.4, 0][region]
        cells = {
            "maker": f"maker_{maker}",
            "region": "abcdefgh"[region],
            "age": draw.sometimes(0.15, age),
            "power": f"{110 * exp(0.4 * power):.0f}",
            "mileage": draw.sometimes(0.1, f"{13_000 * exp(0.8 * mileage):.0f}"),
            "previous": previous,
        }
        yield draw.classes(cells, softmax([0.7 * margin - 3.2, 0, margin - 1.6]), ["large", "none", "small"])


@task("RMSLE", 12_000, 1_680)
def stores(draw: Draw) -> Iterator[Row]:
    """Each row is a day of a store. Predict its sales. The test table has the next 28 days of the same stores.
    Promotions and prices are planned in advance."""
    # Log-normal: a level of the store that follows its size and drifts from day to day, a week and a year, promotions that
    # help the kinds of stores differently, a price. Nobody can know how a level drifts after the training rows, so the best
    # predictions leave it as it was.
    days, future = (rows // 60 for rows in draw.rows)
    tables: tuple[list[Row], list[Row]] = ([], [])
    for store in range(60):
        kind, (size, own) = draw.below(3), draw.normals(2)
        weekend = [0.25, -0.3, 0.1][kind] + 0.08 * draw.normal()
        week = [0, -0.04, -0.02, 0.03, 0.15, weekend, weekend - 0.1]
        level = known = 4.5 + 0.35 * size + 0.35 * own
        for at in range(days + future):
            moment = day(date(2023, 3, 1), at)
            promotion, (noise, step, price) = draw.chance(0.15), draw.normals(3)
            level += 0.025 * step
            known = level if at < days else known
            expected = week[moment.weekday()] + 0.15 * cos(2 * pi * moment.timetuple().tm_yday / 365 - 5)
            expected += ([0.3, 0.15, 0.4][kind] if promotion else 0) - 0.12 * price
            cells = {
                "date": moment,
                "store": f"s{store:02}",
                "kind": ["city", "station", "village"][kind],
                "size": 300 * exp(0.4 * size),
                "promotion": int(promotion),
                "price": 10 + price,
            }
            tables[at >= days].append(number(cells, exp(expected + level + 0.2 * noise), exp(expected + known)))
    yield from tables[0] + tables[1]


@task("ROC-AUC", 4_000, 8_000)
def clients(draw: Draw) -> Iterator[Row]:
    """Each row is a client. Predict whether the client defaults (1) or not (0). `transactions.csv` has the transactions
    of a year."""
    # Three hidden habits of the client decide how often the some twelve transactions are refunds and fees, and how large
    # they are. Nobody can know the habits exactly, but the best possible score does.
    kinds = ["purchase", "refund", "transfer", "fee", "salary", "cash"]
    table = draw.table("transactions.csv", "client", "day", "kind", "amount")
    for client, _ in enumerate(draw.parts()):
        returns, fees, size = draw.normals(3)
        weights = [4, exp(0.9 * returns), 2, 0.7 * exp(0.7 * fees), 1, 1.5]
        shares = [weight / sum(weights) for weight in weights]
        for _ in range(draw.events(12) + 1):
            days, kind = draw.below(365), kinds[draw.by_shares(shares)]
            amount = exp(3 + 0.5 * size + 0.8 * draw.normal() + 0.002 * fees * (days - 180))
            table.append([client, day(date(2023, 1, 1), days), kind, amount])
        age = 18 + draw.below(62)
        margin = -1.2 + 1.1 * returns + 0.8 * fees - 0.5 * size + 0.02 * (age - 45)
        cells = {"client": client, "age": age, "region": draw.one(["north", "south", "east", "west"])}
        yield draw.outcome(cells, logistic(margin))


@task("ROC-AUC", 6_000, 8_000)
def parts(draw: Draw) -> Iterator[Row]:
    """Each row is a part of a ship. Predict whether it fails (1) or not (0)."""
    # Some letters of a serial number, deck, number and side of a place such as `B/45/P`, two measurements and their product.
    letters, decks = draw.levels(10, 0.75), draw.levels(7, 0.8)
    for _ in draw.parts():
        serial = [draw.below(10) for _ in range(8)]
        deck, place, side = draw.below(7), draw.below(1_500), draw.below(2)
        load, heat = draw.normals(2)
        outer = 0.5 if (side == 0) == (place > 700) else -0.5
        margin = 0.7 * letters[serial[0]] + 0.7 * letters[serial[3]] + 0.12 * (serial[6] - 4.5) + decks[deck] + outer
        cells = {"serial": "".join("ABCDEFGHIJ"[at] for at in serial), "place": f"{'ABCDEFG'[deck]}/{place}/{'PS'[side]}"}
        yield draw.outcome(cells | {"load": load, "heat": heat}, logistic(margin + 0.6 * load - 0.4 * load * heat))


def constant(metric: str, targets: list[str]) -> list[str]:
    """The values of a submission that does not look at the features."""
    counts = Counter(targets)
    match metric:
        case "log loss":
            return [f"{1 / len(counts):.4f}"] * len(counts)
        case "ROC-AUC" | "average precision":
            return ["0.5"]
        case "MAE" | "RMSE" | "RMSLE":
            values = sorted(map(float, targets))
            return [str(values[len(values) // 2]).removesuffix(".0")]
        case "F1":
            # The class that is not the positive one would score 0.
            return [max(counts)]
        case _:
            return [max(sorted(counts, reverse=True), key=counts.__getitem__)]


def text(lines: list[list[object]]) -> str:
    """CSV; a fraction has two decimals, and no cell needs quotes."""
    cell = lambda value: f"{value:.2f}" if isinstance(value, float) else str(value)  # noqa: E731
    return "".join(",".join(map(cell, line)) + "\n" for line in lines)


def write(name: str, seed: int, folder: Path) -> dict[str, object]:
    """Writes a task; its metric, and the hidden scores of the sample and of the best possible submission."""
    metric, (count, _), process = TASKS[name]
    draw = Draw(name, seed, TASKS[name].rows)
    rows = list(process(draw))
    train, hidden = rows[:count], rows[count:]
    data, answers = folder / "tasks" / f"{name}-{seed}", folder / "answers" / f"{name}-{seed}.csv"
    for made in (data, answers.parent):
        made.mkdir(parents=True, exist_ok=True)
    header = [ID, *train[0].cells]
    for file, part, first in (("train.csv", train, 1), ("test.csv", hidden, count + 1)):
        lines = [[at, *row.cells.values()] for at, row in enumerate(part, first)]
        if part is train:
            lines = [[*line, row.target] for line, row in zip(lines, train, strict=True)]
        (data / file).write_text(text([[*header, TARGET] if part is train else header, *lines]))
    for file, table in draw.others.items():
        (data / file).write_text(text(table))
    better = "lower" if metric in LOWER_IS_BETTER else "higher"
    about = " ".join((process.__doc__ or "").split())
    (data / "description.md").write_text(
        f"{about}\n\nSubmissions are scored by {metric}; {better} is better. They have the columns of "
        "`sample_submission.csv` and one row for each row of `test.csv`.\n"
    )
    targets = [row.target for row in train]
    predicted = sorted(set(targets)) if metric == "log loss" else [TARGET]

    def submission(file: Path, columns: list[str], values: list[list[str]]) -> None:
        file.write_text(text([[ID, *columns], *([at, *line] for at, line in enumerate(values, count + 1))]))

    sample, best = data / "sample_submission.csv", answers.with_suffix(".best")
    submission(sample, predicted, [constant(metric, targets)] * len(hidden))
    submission(answers, [TARGET], [[row.target] for row in hidden])
    submission(best, predicted, [row.best for row in hidden])
    scores = {"constant": score(metric, answers, sample), "best": score(metric, answers, best)}
    best.unlink()
    return {"metric": metric} | scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("tasks", nargs="*", metavar="TASK", choices=[*TASKS, []])
    parser.add_argument("--seeds", default="1", metavar="FIRST-LAST")
    told = parser.parse_args()
    first, last = (int(told.seeds.split("-")[at]) for at in (0, -1))
    described = {}
    for name in told.tasks or TASKS:
        for seed in range(first, last + 1):
            described[f"{name}-{seed}"] = found = write(name, seed, told.folder)
            print(f"{name}-{seed}: {found['metric']}, constant {found['constant']:.4f}, best {found['best']:.4f}")
    (told.folder / "tasks.json").write_text(json.dumps(described, indent=2))


if __name__ == "__main__":
    main()
