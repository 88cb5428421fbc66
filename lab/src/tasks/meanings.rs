//! Tasks whose columns have to be understood first: codes, numbers that only name something, dates and places that matter
//! by their distance, and a table with several rows for a key. The comment of each function is its process.

use jiff::ToSpan as _;
use jiff::civil::date;

use super::draw::{Cell, Draw, Part, Random, Row, cell, decimal, logistic, number, outcome};

/// Each client has some twelve transactions in another table (`transactions.csv`). Three hidden habits of the client decide
/// how often they are refunds and fees, and how large they are; the answer is a logistic draw from the habits and the age.
/// Nobody can know the habits exactly, but the best possible score does.
pub fn clients(random: &mut Random, rows: [usize; 2]) -> Draw {
    const KINDS: [&str; 6] = ["purchase", "refund", "transfer", "fee", "salary", "cash"];
    let mut table = "client,day,kind,amount\n".to_owned();
    let mut next = 0;
    let mut draw = Draw::of(random, rows, |random, _| {
        let [returns, fees, size] = random.normals();
        let weights = [4.0, (0.9 * returns).exp(), 2.0, 0.7 * (0.7 * fees).exp(), 1.0, 1.5];
        let total: f64 = weights.iter().sum();
        for _ in 0..=random.events(12.0) {
            let day = random.below(365) as i64;
            let kind = KINDS[random.one_of(&weights.map(|weight| weight / total))];
            let trend = 0.002 * fees * (day as f64 - 180.0);
            let amount = (3.0 + 0.5 * size + 0.8 * random.normal() + trend).exp();
            table += &format!("{next},{},{kind},{amount:.2}\n", date(2023, 1, 1).saturating_add(day.days()));
        }
        let age = 18 + random.below(62);
        let margin = -1.2 + 1.1 * returns + 0.8 * fees - 0.5 * size + 0.02 * (age as f64 - 45.0);
        let region = ["north", "south", "east", "west"][random.below(4)];
        let cells = vec![cell("client", &next), cell("age", &age), cell("region", region)];
        next += 1;
        outcome(random, cells, logistic(margin))
    });
    draw.others.push(("transactions.csv", table));
    draw
}

/// Each customer has some five orders of some three items (`orders.csv`, `items.csv`), and `products.csv` knows the kind and
/// the price of each of 200 products. Two hidden habits of the customer decide what kinds are bought and how dear ones; the
/// answer is a logistic draw from the habits, the number of orders and the age. Nobody can know the habits exactly, but the
/// best possible score does.
pub fn shoppers(random: &mut Random, rows: [usize; 2]) -> Draw {
    const KINDS: [&str; 5] = ["food", "toys", "tools", "books", "clothes"];
    let products: Vec<(usize, f64)> =
        (0..200).map(|_| (random.below(KINDS.len()), (2.5 + 0.8 * random.normal()).exp())).collect();
    let [mut orders, mut items] =
        ["order,customer,day,channel\n", "order,product,pieces\n"].map(str::to_owned);
    let (mut next, mut order) = (0, 0);
    let mut draw = Draw::of(random, rows, |random, _| {
        let [tools, dear] = random.normals();
        let weight = |(kind, price): &(usize, f64)| match kind {
            2 => (0.8 * tools).exp() * price.powf(0.6 * dear),
            _ => price.powf(0.6 * dear),
        };
        let total: f64 = products.iter().map(weight).sum();
        let shares: Vec<f64> = products.iter().map(|product| weight(product) / total).collect();
        let count = 1 + random.events(4.0);
        for _ in 0..count {
            let day = date(2023, 1, 1).saturating_add((random.below(365) as i64).days());
            orders += &format!("{order},{next},{day},{}\n", ["web", "shop"][random.below(2)]);
            for _ in 0..=random.events(2.0) {
                items += &format!("{order},{},{}\n", random.one_of(&shares), 1 + random.below(3));
            }
            order += 1;
        }
        let age = 18 + random.below(62);
        let margin =
            -0.9 + 1.2 * tools + 0.8 * dear + 0.15 * (count as f64 - 5.0) + 0.02 * (age as f64 - 45.0);
        let region = ["north", "south", "east", "west"][random.below(4)];
        let cells = vec![cell("customer", &next), cell("age", &age), cell("region", region)];
        next += 1;
        outcome(random, cells, logistic(margin))
    });
    let line =
        |(product, (kind, price)): (usize, &(usize, f64))| format!("{product},{},{price:.2}\n", KINDS[*kind]);
    let lines: String = products.iter().enumerate().map(line).collect();
    draw.others.extend([
        ("items.csv", items),
        ("orders.csv", orders),
        ("products.csv", format!("product,kind,price\n{lines}")),
    ]);
    draw
}

/// Each subscriber has purchases in another table (`purchases.csv`), which become fewer in the sixty days before the row's date
/// if the interest fades. The answer, whether the subscriber leaves at this date, is a logistic draw from that, the usual
/// number of purchases and the age. Who leaves buys nothing afterwards. The training rows are of 2023, the test rows of the
/// next spring, and purchases are known until the end of 2023 and the date of a test row. Nobody can know the interest
/// exactly, but the best possible score does.
pub fn subscribers(random: &mut Random, rows: [usize; 2]) -> Draw {
    const FADING: i64 = 60;
    let (first, end) = (date(2022, 7, 1), (date(2024, 1, 1) - date(2022, 7, 1)).get_days());
    let mut table = "subscriber,bought,kind,amount\n".to_owned();
    let mut next = 0;
    let mut draw = Draw::of(random, rows, |random, part| {
        let [fading, often] = random.normals();
        let asked = match part {
            Part::Train => 184 + random.below(270) as i64,
            Part::Test => i64::from(end) + random.below(90) as i64,
        };
        let age = 18 + random.below(62);
        let margin = -0.8 + 1.4 * fading - 0.5 * often + 0.02 * (age as f64 - 45.0);
        let cells = vec![
            cell("subscriber", &next),
            cell("asked", &first.saturating_add(asked.days())),
            cell("age", &age),
            cell("plan", ["basic", "family", "student"][random.below(3)]),
        ];
        let row = outcome(random, cells, logistic(margin));
        let rate = (0.4 * often - 2.6).exp();
        for day in 0..asked.max(i64::from(end)) {
            let rate = match day {
                day if day >= asked && row.target == "1" => 0.0,
                day if day >= asked - FADING && day < asked => rate * (-0.9 * fading).exp(),
                _ => rate,
            };
            if random.chance(rate.min(0.9)) {
                let (kind, amount) =
                    (["food", "books", "games"][random.below(3)], (2.0 + 0.6 * random.normal()).exp());
                table += &format!("{next},{},{kind},{amount:.2}\n", first.saturating_add(day.days()));
            }
        }
        next += 1;
        row
    });
    draw.others.push(("purchases.csv", table));
    draw
}

/// Two of 400 teams meet in one of six seasons; each team has a town (`teams.csv`) and each of its seasons a rank and a budget
/// (`seasons.csv`). The answer, whether the home team wins, is a logistic draw from the differences of rank and budget, the way
/// of the other team, and whether both have a coach of the same school.
pub fn matches(random: &mut Random, rows: [usize; 2]) -> Draw {
    const TEAMS: usize = 400;
    const SEASONS: usize = 6;
    const SCHOOLS: [&str; 4] = ["Lyon", "Porto", "Turin", "Ghent"];
    let [mut teams, mut seasons] =
        ["team,latitude,longitude,school\n", "team,season,rank,budget\n"].map(str::to_owned);
    let mut known = Vec::new();
    for team in 0..TEAMS {
        let ([north, east, strength], school) = (random.normals(), random.below(SCHOOLS.len()));
        let (latitude, longitude) = (48.0 + 3.0 * north, 8.0 + 4.0 * east);
        teams += &format!("T{team:03},{latitude:.4},{longitude:.4},{}\n", SCHOOLS[school]);
        let years: Vec<[f64; 2]> = (0..SEASONS)
            .map(|season| {
                let [form, money] = random.normals();
                let rank = (100.0 - 25.0 * (0.6 * strength + 0.8 * form)).round();
                let budget = (3.0 + 0.5 * strength + 0.5 * money).exp();
                seasons += &format!("T{team:03},{},{rank},{budget:.2}\n", 2018 + season);
                [rank, budget]
            })
            .collect();
        known.push((latitude, longitude, school, years));
    }
    let mut next = 0;
    let mut draw = Draw::of(random, rows, |random, _| {
        let (home, season) = (random.below(TEAMS), random.below(SEASONS));
        let away = (home + 1 + random.below(TEAMS - 1)) % TEAMS;
        let (one, other) = (&known[home], &known[away]);
        let way = ((one.0 - other.0) * 111.0).hypot((one.1 - other.1) * 74.0);
        let [rank, budget] = [0, 1].map(|at| (one.3[season][at], other.3[season][at]));
        let margin =
            0.2 - 0.045 * (rank.0 - rank.1) + 0.5 * (budget.0 / budget.1).ln() + 0.002 * (way - 600.0);
        let margin = margin - if one.2 == other.2 { 1.2 } else { 0.0 };
        next += 1;
        let cells = vec![
            cell("match", &next),
            cell("season", &(2018 + season)),
            cell("home_team", &format!("T{home:03}")),
            cell("away_team", &format!("T{away:03}")),
            cell("evening", &random.below(2)),
        ];
        outcome(random, cells, logistic(margin))
    });
    draw.others.extend([("seasons.csv", seasons), ("teams.csv", teams)]);
    draw
}

/// Minutes are normal around the way between two of 250 airports, the wind to the east and the height of both; the airports are
/// in `airports.csv`, by codes whose column has another name.
pub fn flights(random: &mut Random, rows: [usize; 2]) -> Draw {
    const AIRPORTS: usize = 250;
    let mut table = "code,latitude,longitude,height\n".to_owned();
    let mut known = Vec::new();
    for airport in 0..AIRPORTS {
        let code: String = [airport / 25, airport % 25, (airport * 7 + 3) % 26]
            .iter()
            .map(|letter| char::from(b'A' + u8::try_from(*letter).unwrap_or(0)))
            .collect();
        let [north, east] = random.normals();
        let (latitude, longitude) = (40.0 + 5.0 * north, -95.0 + 12.0 * east);
        let height = random.exponential(300.0);
        table += &format!("{code},{latitude:.4},{longitude:.4},{height:.0}\n");
        known.push((code, latitude, longitude, height));
    }
    let mut next = 0;
    let mut draw = Draw::of(random, rows, |random, _| {
        let from = random.below(AIRPORTS);
        let to = (from + 1 + random.below(AIRPORTS - 1)) % AIRPORTS;
        let (one, other) = (&known[from], &known[to]);
        let (north, east) = ((other.1 - one.1) * 111.2, (other.2 - one.2) * 85.0);
        let (month, [delay]) = (1 + random.below(12), random.normals());
        let wind = 0.012 * (1.0 + 0.5 * (std::f64::consts::TAU * month as f64 / 12.0).cos());
        let best = 35.0 + north.hypot(east) / 13.0 - wind * east + 0.01 * (one.3 + other.3);
        next += 1;
        let cells = vec![
            cell("flight", &next),
            cell("origin", &one.0),
            cell("dest", &other.0),
            cell("month", &month),
            cell("carrier", ["AA", "DL", "UA", "WN"][random.below(4)]),
        ];
        number(cells, best + 12.0 * delay, best)
    });
    draw.others.push(("airports.csv", table));
    draw
}

/// Seconds are log-normal around the way between two places, rush hours and a slow centre.
pub fn rides(random: &mut Random, rows: [usize; 2]) -> Draw {
    let bell = |x: f64, width: f64| (-(x / width).powi(2)).exp();
    Draw::of(random, rows, |random, _| {
        let [north, east, to_north, to_east] = random.normals();
        let (latitude, longitude) = (40.75 + 0.05 * north, -73.97 + 0.05 * east);
        let (to_latitude, to_longitude) = (latitude + 0.03 * to_north, longitude + 0.03 * to_east);
        let minute = random.below(180 * 24 * 60) as i64;
        let at = date(2016, 1, 1).at(0, 0, 0, 0).saturating_add(minute.minutes());
        let hour = f64::from(at.hour()) + f64::from(at.minute()) / 60.0;
        let is_weekend = at.weekday().to_monday_zero_offset() >= 5;
        let rush = 0.5 * bell(hour - 17.5, 2.5) + if is_weekend { 0.0 } else { 0.3 * bell(hour - 8.5, 2.0) };
        let centre = 0.6 * bell(latitude - 40.75, 0.02) * bell(longitude + 73.98, 0.02);
        let kilometres = 111.2 * (0.03 * to_north).hypot(0.03 * to_east * latitude.to_radians().cos());
        let seconds = 120.0 + 170.0 * kilometres * (1.0 + rush) * (1.0 + centre);
        let degrees = |name: &'static str, value: f64| (name.into(), format!("{value:.5}"));
        let cells = vec![
            cell("pickup_time", &at.to_string().replace('T', " ")),
            cell("passengers", &(1 + random.below(5))),
            degrees("pickup_latitude", latitude),
            degrees("pickup_longitude", longitude),
            degrees("dropoff_latitude", to_latitude),
            degrees("dropoff_longitude", to_longitude),
            cell("vendor", ["A", "B"][random.below(2)]),
        ];
        number(cells, seconds * (0.25 * random.normal()).exp(), seconds)
    })
}

/// Costs are log-normal around the days from the opening to the closing of a case, the client's age at the opening, and
/// winter. The best prediction is the median.
pub fn cases(random: &mut Random, rows: [usize; 2]) -> Draw {
    Draw::of(random, rows, |random, _| {
        let (lived, opened) = (random.below(50 * 365) as i64, random.below(6 * 365) as i64);
        let (birth, opening) =
            (date(1950, 1, 1).saturating_add(lived.days()), date(2015, 1, 1).saturating_add(opened.days()));
        let days = random.exponential(60.0).round();
        let closing = opening.saturating_add((days as i64).days());
        let age = f64::from((opening - birth).get_days()) / 365.25;
        let winter = if [12, 1].contains(&closing.month()) { 0.15 } else { 0.0 };
        let cost = (4.0 + 0.5 * days.ln_1p() + 0.015 * (age - 40.0) + winter).exp();
        let cells = vec![
            cell("birth_date", &birth),
            cell("opened", &opening),
            cell("closed", &closing),
            cell("channel", ["web", "phone", "shop"][random.below(3)]),
        ];
        number(cells, cost * (0.4 * random.normal()).exp(), cost)
    })
}

/// A logistic draw from some letters of a serial number, from deck, number and side of a place such as `B/45/P`, and from
/// two measurements and their product.
pub fn parts(random: &mut Random, rows: [usize; 2]) -> Draw {
    let (letters, decks) = (random.levels(10, 0.75), random.levels(7, 0.8));
    Draw::of(random, rows, |random, _| {
        let serial: Vec<usize> = (0..8).map(|_| random.below(10)).collect();
        let (deck, place, side) = (random.below(7), random.below(1_500), random.below(2));
        let [load, heat] = random.normals();
        let outer = if (side == 0) == (place > 700) { 0.5 } else { -0.5 };
        let margin = 0.7 * letters[serial[0]]
            + 0.7 * letters[serial[3]]
            + 0.12 * (serial[6] as f64 - 4.5)
            + decks[deck]
            + outer
            + 0.6 * load
            - 0.4 * load * heat;
        let letter = |at: usize| char::from(b"ABCDEFGHIJ"[at]);
        let cells = vec![
            cell("serial", &serial.into_iter().map(letter).collect::<String>()),
            cell("place", &format!("{}/{place}/{}", letter(deck), ["P", "S"][side])),
            decimal("load", load),
            decimal("heat", heat),
        ];
        outcome(random, cells, logistic(margin))
    })
}

/// Ratings are the level of a user and that of a film, with three traits of each that go together or not, and normal
/// noise. Users and films are numbers, some far more frequent than others; they come again with others.
pub fn ratings(random: &mut Random, rows: [usize; 2]) -> Draw {
    let kind = |random: &mut Random, count: usize, level: f64| -> Vec<(f64, [f64; 3])> {
        (0..count).map(|_| (level * random.normal(), random.normals())).collect()
    };
    let (users, films) = (kind(random, 500, 0.5), kind(random, 250, 0.6));
    // The square of a number between 0 and 1 is often small.
    let often =
        |random: &mut Random, count: usize| (random.between(0.0, 1.0).powi(2) * count as f64) as usize;
    Draw::of(random, rows, |random, _| {
        let (user, film) = (often(random, users.len()), often(random, films.len()));
        let (like, good) = (&users[user], &films[film]);
        let together: f64 = like.1.iter().zip(good.1).map(|(one, other)| one * other).sum();
        let expected = 3.3 + like.0 + good.0 + 0.45 * together;
        let cells: Vec<Cell> =
            vec![cell("user", &user), cell("film", &film), cell("hour", &random.below(24))];
        let row: Row = number(cells, expected + 0.5 * random.normal(), expected);
        row
    })
}
