//! Tasks with numbers and grades as answers. The comment of each function is its process.

use jiff::ToSpan;
use jiff::civil::date;

use super::draw::{Draw, Part, Random, Row, cell, decimal, hour_wave, logistic, number, sometimes};

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
