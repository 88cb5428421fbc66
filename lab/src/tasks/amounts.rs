//! Tasks with numbers and grades as answers. The comment of each function is its process.

use jiff::ToSpan;
use jiff::civil::date;

use super::draw::{Draw, Part, Random, Row, cell, decimal, hour_wave, logistic, number, shuffled, sometimes};

/// Minutes are a smooth function of distance, load, hour and courier with Laplace noise, which dominates.
pub fn deliveries(random: &mut Random, rows: [usize; 2]) -> Draw {
    let couriers = random.levels(15, 2.5);
    Draw::of(random, rows, |random, _| {
        let (distance, hour, courier) = (random.exponential(4.0), random.below(24), random.below(15));
        let [load, rain, x] = random.normals();
        let rain = rain.max(0.0);
        let minutes = 25.0 + 9.0 * distance.sqrt() + 2.0 * load + 1.5 * load * rain - 3.0 * hour_wave(hour)
            + couriers[courier];
        let kilometres = decimal("kilometres", distance);
        let cells = vec![
            sometimes(random, 0.05, kilometres),
            decimal("load", 10.0 + 3.0 * load),
            decimal("rain", rain),
            decimal("traffic", x),
            cell("hour", &hour),
            cell("courier", &format!("k{courier}")),
        ];
        number(cells, minutes + random.laplace(9.0), minutes)
    })
}

/// Sales of shops by day: level of the shop, trend, week, promotion, and a price effect that doubles over the time;
/// normal noise. The test rows are from the 120 days after the 365 days of the training rows.
pub fn demand(random: &mut Random, rows: [usize; 2]) -> Draw {
    let shops = random.levels(12, 8.0);
    Draw::of(random, rows, |random, part| {
        let day = match part {
            Part::Train => random.below(365),
            Part::Test => 365 + random.below(120),
        };
        let (shop, promotion) = (random.below(12), random.chance(0.2));
        let [price, warmth] = random.normals();
        let time = day as f64 / 365.0;
        let sales =
            100.0 + shops[shop] + 25.0 * time + 6.0 * (std::f64::consts::TAU * day as f64 / 7.0).sin()
                - (6.0 + 6.0 * time) * price
                + if promotion { 14.0 - 4.0 * time } else { 0.0 }
                + 3.0 * warmth;
        let cells = vec![
            cell("date", &date(2024, 1, 1).saturating_add((day as i64).days())),
            cell("shop", &format!("shop_{shop}")),
            decimal("price", 10.0 + price),
            cell("promotion", &u8::from(promotion)),
            decimal("temperature", 12.0 + 7.0 * warmth),
        ];
        number(cells, sales + 9.0 * random.normal(), sales)
    })
}

/// Sales of stores by day, log-normal: a level of the store that follows its size and drifts from day to day (random
/// walk), a week and a year, promotions that are known in advance and help the kinds of stores differently, a price;
/// stores open at different days. The test rows are the 28 days after the 200 days of the training rows, for all stores.
/// Nobody can know how a level drifts after the training rows, so the best predictions leave it as it was.
pub fn stores(random: &mut Random, rows: [usize; 2]) -> Draw {
    const STORES: usize = 60;
    const KINDS: [&str; 3] = ["city", "station", "village"];
    let days = [rows[0], rows[1]].map(|rows| rows / STORES);
    let mut draw = Draw { train: Vec::new(), test: Vec::new(), others: Vec::new() };
    for store in 0..STORES {
        let kind = random.below(KINDS.len());
        let [size, level] = random.normals();
        let weekend = [0.25, -0.3, 0.1][kind] + 0.08 * random.normal();
        let mut level = 4.5 + 0.35 * size + 0.35 * level;
        let mut known = level;
        for day in 0..days[0] + days[1] {
            let moment = date(2023, 3, 1).saturating_add((day as i64).days());
            let (promotion, [noise, step, price]) = (random.chance(0.15), random.normals());
            level += 0.025 * step;
            if day < days[0] {
                known = level;
            }
            let week = [0.0, -0.04, -0.02, 0.03, 0.15, weekend, weekend - 0.1];
            let expected = week[moment.weekday().to_monday_zero_offset() as usize]
                + 0.15 * (std::f64::consts::TAU * f64::from(moment.day_of_year()) / 365.0 - 5.0).cos()
                + if promotion { [0.3, 0.15, 0.4][kind] } else { 0.0 }
                - 0.12 * price;
            let cells = vec![
                cell("date", &moment),
                cell("store", &format!("s{store:02}")),
                cell("kind", KINDS[kind]),
                decimal("size", 300.0 * (0.4 * size).exp()),
                cell("promotion", &u8::from(promotion)),
                decimal("price", 10.0 + price),
            ];
            let row = number(cells, (expected + level + 0.2 * noise).exp(), (expected + known).exp());
            if day < days[0] { draw.train.push(row) } else { draw.test.push(row) }
        }
    }
    draw
}

/// Prices are log-normal around a product of area, district, age and condition.
pub fn houses(random: &mut Random, rows: [usize; 2]) -> Draw {
    let districts = random.levels(30, 0.35);
    Draw::of(random, rows, |random, _| {
        let [area, noise] = random.normals();
        let (age, district, condition) = (random.exponential(30.0), random.below(30), random.below(5));
        let log = 11.8 + 0.45 * area + districts[district] - 0.25 * (age / 20.0).ln_1p()
            + 0.12 * condition as f64 * (1.0 + 0.4 * area);
        let size = decimal("area", 90.0 * (0.4 * area).exp());
        let cells = vec![
            size,
            cell("age", &age.round()),
            cell("district", &format!("q{district}")),
            cell("condition", &condition),
            cell("rooms", &(1 + random.events(2.5))),
        ];
        number(cells, (log + 0.35 * noise).exp(), log.exp())
    })
}

/// Grades 0 to 4 are the number of fixed cuts below a latent sum with logistic noise. The best prediction is the
/// rounded mean of the grade, which is close to optimal for the metric.
pub fn grades(random: &mut Random, rows: [usize; 2]) -> Draw {
    const CUTS: [f64; 4] = [-2.2, -0.6, 0.9, 2.4];
    Draw::of(random, rows, |random, _| {
        let [talent, hours, sleep, x] = random.normals();
        let school = random.below(8);
        let latent = 1.1 * talent + 0.8 * hours - 0.4 * hours * hours
            + 0.5 * sleep * talent
            + [0.4, 0.0, -0.5, 0.2, 0.0, 0.6, -0.3, 0.0][school];
        let mean: f64 = CUTS.iter().map(|cut| logistic(latent - cut)).sum();
        let chance = random.between(1e-9, 1.0);
        let drawn = latent + (chance / (1.0 - chance)).ln();
        let cells = vec![
            decimal("earlier_marks", 10.0 + 2.0 * talent),
            decimal("hours", 5.0 + 1.5 * hours),
            decimal("sleep", 7.0 + sleep),
            decimal("distance", 4.0 * (0.5 * x).exp()),
            cell("school", &format!("school_{school}")),
        ];
        let target = CUTS.iter().filter(|cut| drawn > **cut).count().to_string();
        Row { cells, target, best: vec![format!("{mean:.0}")] }
    })
}

/// Values depend on the order and, more strongly, on income and segment of the customer, which are in another table
/// (`customers.csv`); normal noise.
pub fn orders(random: &mut Random, rows: [usize; 2]) -> Draw {
    const SEGMENTS: [&str; 4] = ["business", "private", "public", "student"];
    let customers: Vec<(f64, usize, f64)> =
        (0..800).map(|_| (random.normal(), random.below(4), random.exponential(6.0))).collect();
    let mut table = "customer_id,income,segment,years\n".to_owned();
    for (number, (income, segment, years)) in customers.iter().enumerate() {
        let income = 40.0 * (0.4 * income).exp();
        table += &format!("u{number},{income:.2},{},{years:.1}\n", SEGMENTS[*segment]);
    }
    let mut draw = Draw::of(random, rows, |random, _| {
        let customer = random.below(customers.len());
        let (income, segment, years) = customers[customer];
        let (items, month) = (1 + random.events(3.0), 1 + random.below(12));
        let discount = random.between(0.0, 0.3);
        let value = 40.0 + 6.0 * items as f64 - 60.0 * discount
            + 12.0 * income
            + [18.0, 0.0, 8.0, -10.0][segment]
            + 3.0 * years.ln_1p() * (1.0 + income)
            + if month > 10 { 6.0 } else { 0.0 };
        let cells = vec![
            cell("customer_id", &format!("u{customer}")),
            cell("items", &items),
            decimal("discount", discount),
            cell("month", &month),
        ];
        number(cells, value + 14.0 * random.normal(), value)
    });
    draw.others.push(("customers.csv", table));
    draw
}

/// Minutes are log-normal around distance, rush hours, district and, more strongly, the weather of the day in the
/// city, which is in another table (`weather.csv`).
pub fn trips(random: &mut Random, rows: [usize; 2]) -> Draw {
    const CITIES: [&str; 3] = ["north", "south", "west"];
    const DAYS: usize = 200;
    let districts = random.levels(25, 0.2);
    let weather: Vec<(f64, f64)> = (0..DAYS * CITIES.len())
        .map(|_| {
            let rain = if random.chance(0.45) { 0.0 } else { random.exponential(6.0) };
            (rain, random.exponential(5.0) + random.exponential(5.0))
        })
        .collect();
    let date = |day: usize| date(2023, 1, 1).saturating_add((day as i64).days());
    let mut table = "day,city,rain,wind\n".to_owned();
    for (position, (rain, wind)) in weather.iter().enumerate() {
        let (day, city) = (date(position / CITIES.len()), CITIES[position % CITIES.len()]);
        table += &format!("{day},{city},{rain:.1},{wind:.1}\n");
    }
    let mut draw = Draw::of(random, rows, |random, _| {
        let (day, city, district) = (random.below(DAYS), random.below(CITIES.len()), random.below(25));
        let (hour, kilometres) = (random.below(24), 0.5 + random.exponential(3.0) + random.exponential(3.0));
        let (rain, wind) = weather[day * CITIES.len() + city];
        let is_weekend = date(day).weekday().to_monday_zero_offset() >= 5;
        let is_rush = [7, 8, 16, 17, 18].contains(&hour) && !is_weekend;
        let speed =
            3.3 - if is_rush { 0.35 } else { 0.0 } - 0.28 * rain.ln_1p() - 0.012 * wind + districts[district];
        let minutes = 60.0 * kilometres / speed.exp();
        let cells = vec![
            cell("day", &date(day)),
            cell("city", CITIES[city]),
            cell("from_district", &format!("district_{district}")),
            cell("hour", &hour),
            decimal("kilometres", kilometres),
        ];
        number(cells, minutes * (0.15 * random.normal()).exp() + 1.0, minutes + 1.0)
    });
    draw.others.push(("weather.csv", table));
    draw
}

/// What visitors spend depends only on the place, which another table describes (`places.csv`); normal noise. The
/// places of the test rows are others, so the column that joins the tables is no feature.
pub fn visits(random: &mut Random, rows: [usize; 2]) -> Draw {
    const VISITS: usize = 15;
    let mut names = shuffled(random, (100..100 + (rows[0] + rows[1]) / VISITS).collect());
    let mut table = "place_id,area,seats,age,distance,kind\n".to_owned();
    let mut part = |count: usize| -> Vec<Row> {
        let mut visits = Vec::with_capacity(count);
        for place in names.split_off(names.len() - count / VISITS) {
            let [area, seats, age, distance] = random.normals();
            let kind = random.below(4);
            let spent = 60.0 + 9.0 * area - 6.0 * distance + 5.0 * seats * seats.min(1.0)
                - 4.0 * age * f64::from(u8::from(kind == 0))
                + [8.0, 0.0, -7.0, 3.0][kind];
            let kind = ["museum", "park", "theatre", "zoo"][kind];
            let (area, seats) = (400.0 * (0.5 * area).exp(), 80.0 + 25.0 * seats);
            let (age, distance) = (30.0 + 9.0 * age, 5.0 * (0.6 * distance).exp());
            table += &format!("p{place},{area:.1},{seats:.0},{age:.1},{distance:.2},{kind}\n");
            visits.extend((0..VISITS).map(|_| visit(random, place, spent)));
        }
        shuffled(random, visits)
    };
    let (train, test) = (part(rows[0]), part(rows[1]));
    Draw { train, test, others: vec![("places.csv", table)] }
}

fn visit(random: &mut Random, place: usize, spent: f64) -> Row {
    let [warmth, queue] = random.normals();
    let cells = vec![
        cell("place_id", &format!("p{place}")),
        cell("hour", &(9 + random.below(10))),
        cell("weekday", &random.below(7)),
        decimal("temperature", 14.0 + 7.0 * warmth),
        decimal("queue", 6.0 * (0.5 * queue).exp()),
    ];
    number(cells, spent + 8.0 * random.normal(), spent)
}
