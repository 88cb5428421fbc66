//! Tasks with classes as answers. The comment of each function is its process.

use super::draw::{
    Draw, Part, Random, Row, cell, decimal, hour_wave, label, logistic, outcome, shuffled, softmax, sometimes,
};

const CROPS: [&str; 4] = ["barley", "maize", "rye", "wheat"];

/// Staying or leaving is a logistic draw from a weak margin with an interaction and a wave; a tenth of `age` is
/// missing.
pub fn loyalty(random: &mut Random, rows: [usize; 2]) -> Draw {
    Draw::of(random, rows, |random, _| {
        let [age, income, visits, distance, noise] = random.normals();
        let plan = random.below(5);
        let margin = 0.5 * age - 0.45 * income + 0.5 * age * income + 0.4 * (2.0 * visits).sin()
            - 0.3 * distance
            + [0.5, -0.4, 0.0, 0.2, -0.3][plan];
        let years = cell("age", &(45.0 + 12.0 * age).round());
        let cells = vec![
            sometimes(random, 0.1, years),
            decimal("income", 40.0 * (0.4 * income).exp()),
            decimal("visits", 10.0 + 3.0 * visits),
            decimal("distance", 5.0 * (0.6 * distance).exp()),
            decimal("rating", 3.0 + 0.7 * noise),
            cell("plan", &["basic", "family", "plus", "student", "trial"][plan]),
        ];
        label(random, cells, logistic(margin), ["leaves", "stays"])
    })
}

/// Each patient has a hidden level and habits that identify the patient and tell nothing about the level; the answer
/// is a logistic draw from level, dose, hour and age. The level of a test patient cannot be known.
pub fn patients(random: &mut Random, rows: [usize; 2]) -> Draw {
    const VISITS: usize = 20;
    let mut first = 100;
    let mut part = |count: usize| {
        let mut visits = Vec::with_capacity(count);
        for patient in first..first + count / VISITS {
            visits.extend(visits_of(random, patient, VISITS));
        }
        first += count / VISITS;
        shuffled(random, visits)
    };
    let (train, test) = (part(rows[0]), part(rows[1]));
    Draw { train, test, others: Vec::new() }
}

fn visits_of(random: &mut Random, patient: usize, visits: usize) -> Vec<Row> {
    let (level, age) = (1.5 * random.normal(), random.between(25.0, 85.0).round());
    let habits: [f64; 4] = random.normals();
    let visit = |_| {
        let (dose, hour, pulse) = (random.exponential(1.5), random.below(24), random.normal());
        let known = 1.6 * dose.ln_1p() + 0.8 * hour_wave(hour) + 0.03 * (age - 55.0) + 0.4 * pulse - 1.4;
        let mut cells = vec![
            cell("patient_id", &format!("p{patient}")),
            cell("age", &age),
            decimal("dose", dose),
            cell("hour", &hour),
            decimal("pulse", 75.0 + 9.0 * pulse),
        ];
        for (name, habit) in ["sleep", "steps", "calories", "screen"].into_iter().zip(habits) {
            cells.push(decimal(name, 50.0 + 10.0 * habit + 0.2 * random.normal()));
        }
        let mut row = outcome(random, cells, logistic(known + level));
        row.best = vec![format!("{:.6}", logistic(known))];
        row
    };
    (0..visits).map(visit).collect()
}

/// About 3 % of payments are fraud: a logistic draw from amount, hour, country, age of the account and earlier
/// payments, with two interactions.
pub fn fraud(random: &mut Random, rows: [usize; 2]) -> Draw {
    let countries = random.levels(12, 0.7);
    Draw::of(random, rows, |random, _| {
        let [amount, account, x, y] = random.normals();
        let (hour, country, earlier) = (random.below(24), random.below(12), random.events(2.0));
        let margin = 0.9 * amount - 0.8 * account + 0.7 * hour_wave(hour) + countries[country]
            - 0.35 * earlier as f64
            + 0.9 * f64::from(u8::from(amount > 1.0 && account < 0.0))
            + 0.4 * x * y
            - 4.6;
        let cells = vec![
            decimal("amount", 60.0 * amount.exp()),
            cell("account_days", &(400.0 * account.exp()).round()),
            cell("hour", &hour),
            cell("country", &format!("c{country:02}")),
            cell("earlier", &earlier),
            decimal("device_score", x),
            decimal("network_score", y),
        ];
        outcome(random, cells, logistic(margin))
    })
}

/// The answer is a logistic draw from a moderate margin. `open_letters` is counted after the answer is known in the
/// training table (most of those who cancel have one to three more), and before it in the test table.
pub fn contracts(random: &mut Random, rows: [usize; 2]) -> Draw {
    Draw::of(random, rows, |random, part| {
        let [months, price, calls, speed, x] = random.normals();
        let contract = random.below(3);
        let margin = -0.7 * months + 0.6 * price + 0.5 * calls * calls - 0.3 * speed
            + [0.6, 0.0, -0.7][contract]
            - 1.0;
        let cells = vec![
            cell("months", &(24.0 * (0.6 * months).exp()).round()),
            decimal("price", 40.0 + 9.0 * price),
            decimal("calls", calls),
            decimal("speed", 50.0 + 15.0 * speed),
            decimal("usage", 80.0 * (0.5 * x).exp()),
            cell("contract", &["monthly", "yearly", "two years"][contract]),
        ];
        let mut row = outcome(random, cells, logistic(margin));
        let before = random.events(0.3);
        let after = if row.target == "1" && random.chance(0.9) { 1 + random.below(3) } else { 0 };
        row.cells.push(cell("open_letters", &(if part == Part::Train { before + after } else { before })));
        row
    })
}

/// Many rows, and a logistic draw from a strong margin with a product and a threshold.
pub fn clicks(random: &mut Random, rows: [usize; 2]) -> Draw {
    let sites = random.levels(20, 0.8);
    Draw::of(random, rows, |random, _| {
        let [a, b, c, d, e, f] = random.normals();
        let (site, hour) = (random.below(20), random.below(24));
        let margin = 1.8 * a - 1.4 * b
            + 1.2 * c * d
            + 1.5 * f64::from(u8::from(e > 0.5))
            + hour_wave(hour)
            + sites[site]
            - 0.5;
        let cells = vec![
            decimal("relevance", a),
            decimal("fatigue", b),
            decimal("novelty", c),
            decimal("contrast", d),
            decimal("length", e),
            decimal("depth", f),
            cell("site", &format!("site_{site}")),
            cell("hour", &hour),
        ];
        outcome(random, cells, logistic(margin))
    })
}

/// One of four classes, drawn from a softmax of linear terms, a square and a product; two features are useless.
pub fn crops(random: &mut Random, rows: [usize; 2]) -> Draw {
    Draw::of(random, rows, |random, _| {
        let [rain, sun, acid, slope, x, y] = random.normals();
        let soil = random.below(4);
        let mut margins = [
            0.8 * rain - 0.5 * sun,
            0.9 * sun + 0.6 * rain * sun,
            0.7 * acid * acid - 0.6 * slope,
            0.6 * slope - 0.6 * acid,
        ];
        margins[soil] += 0.7;
        let shares = softmax(margins);
        let cells = vec![
            decimal("rain", 600.0 + 150.0 * rain),
            decimal("sun", 1500.0 + 200.0 * sun),
            decimal("acidity", 6.0 + 0.8 * acid),
            decimal("slope", slope),
            decimal("distance", x),
            decimal("altitude", 300.0 + 80.0 * y),
            cell("soil", &["chalk", "clay", "loam", "sand"][soil]),
        ];
        let target = CROPS[random.one_of(&shares)].to_owned();
        Row { cells, target, best: shares.iter().map(|share| format!("{share:.6}")).collect() }
    })
}

/// A logistic draw from the effects of 500 merchants and 120 districts, few of them frequent, and of two numbers.
pub fn merchants(random: &mut Random, rows: [usize; 2]) -> Draw {
    let (merchants, districts) = (random.levels(500, 1.2), random.levels(120, 0.6));
    Draw::of(random, rows, |random, _| {
        // Squares of uniform numbers: small positions are frequent.
        let merchant = (500.0 * random.between(0.0, 1.0).powi(2)) as usize;
        let district = (120.0 * random.between(0.0, 1.0).powi(2)) as usize;
        let [amount, weight] = random.normals();
        let margin = merchants[merchant] + districts[district] + 0.6 * amount - 0.4 * weight;
        let cells = vec![
            cell("merchant", &format!("m{merchant:03}")),
            cell("district", &format!("d{district:03}")),
            decimal("amount", 30.0 * (0.8 * amount).exp()),
            decimal("weight", 2.0 * (0.5 * weight).exp()),
        ];
        outcome(random, cells, logistic(margin))
    })
}

/// A logistic draw from six of 206 features; the others are noise.
pub fn sensors(random: &mut Random, rows: [usize; 2]) -> Draw {
    Draw::of(random, rows, |random, _| {
        let x: Vec<f64> = random.levels(206, 1.0);
        let margin =
            1.1 * x[17] - 0.9 * x[58] + 0.9 * x[99] * x[17] + 0.8 * x[120] - 0.7 * x[151] + 0.6 * x[200];
        let cells =
            x.iter().enumerate().map(|(position, x)| decimal(format!("s{position:03}"), *x)).collect();
        label(random, cells, logistic(margin), ["fails", "works"])
    })
}

/// Few rows, and a logistic draw from a moderate margin of four of eight features.
pub fn clinic(random: &mut Random, rows: [usize; 2]) -> Draw {
    Draw::of(random, rows, |random, _| {
        let x: [f64; 7] = random.normals();
        let ward = random.below(4);
        let margin = 0.8 * x[0] - 0.7 * x[1] + 0.5 * x[2] * x[2] + [0.5, 0.0, -0.5, 0.0][ward] - 0.8;
        let names = ["pressure", "glucose", "weight", "height", "pulse", "iron", "sodium"];
        let mut cells: Vec<_> = names.into_iter().zip(x).map(|(name, x)| decimal(name, x)).collect();
        cells.push(cell("ward", &["east", "north", "south", "west"][ward]));
        outcome(random, cells, logistic(margin))
    })
}

/// Texts, whose words come from a hidden mood, and an answer that is a logistic draw from mood and price. The best
/// prediction knows the words and how moods choose them, but not the mood.
pub fn reviews(random: &mut Random, rows: [usize; 2]) -> Draw {
    const GOOD: [&str; 8] = ["great", "lovely", "quick", "friendly", "tasty", "fresh", "warm", "kind"];
    const BAD: [&str; 8] = ["slow", "cold", "rude", "stale", "noisy", "dirty", "late", "bland"];
    const PLAIN: [&str; 12] =
        ["the", "food", "was", "and", "we", "had", "a", "table", "with", "people", "there", "on"];
    let mut draw = Draw::of(random, rows, |random, _| {
        let (mood, price) = (random.normal(), 8.0 + random.exponential(16.0));
        let mut words: Vec<&str> = (0..6 + random.below(12)).map(|_| PLAIN[random.below(12)]).collect();
        let (count, mut good) = (1 + random.below(4), 0);
        for _ in 0..count {
            let is_good = random.chance(logistic(2.0 * mood));
            good += usize::from(is_good);
            let word = if is_good { GOOD } else { BAD }[random.below(8)];
            words.insert(random.below(words.len() + 1), word);
        }
        let cells = vec![
            cell("review", &words.join(" ")),
            decimal("price", price),
            cell("shop", &format!("shop_{}", random.below(60))),
            cell("channel", ["app", "phone", "web"][random.below(3)]),
        ];
        let back = |mood: f64| logistic(2.0 * mood - 0.04 * (price - 24.0) - 2.2);
        let target = if random.chance(back(mood)) { "yes" } else { "no" }.to_owned();
        Row { cells, target, best: vec![mean_over_moods(good, count - good, back).to_string()] }
    });
    choose_for_f1(&mut draw.test);
    draw
}

/// The mean of a function of the mood, given the words.
fn mean_over_moods(good: usize, bad: usize, value: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for mood in (-40..=40).map(|step| f64::from(step) / 10.0) {
        let words = logistic(2.0 * mood).powi(good as i32) * logistic(-2.0 * mood).powi(bad as i32);
        let weight = (-mood * mood / 2.0).exp() * words;
        sum += weight * value(mood);
        weights += weight;
    }
    sum / weights
}

/// Replaces probabilities by `yes` for so many of the largest that the expected F1 is best, otherwise by `no`.
fn choose_for_f1(rows: &mut [Row]) {
    let chances: Vec<f64> = rows.iter().filter_map(|row| row.best[0].parse().ok()).collect();
    let mut sorted = chances.clone();
    sorted.sort_by(|one, two| two.total_cmp(one));
    let all: f64 = sorted.iter().sum();
    let (mut hits, mut best, mut limit) = (0.0, 0.0, 1.0);
    for (at, chance) in sorted.into_iter().enumerate() {
        hits += chance;
        let expected = 2.0 * hits / ((at + 1) as f64 + all);
        if expected > best {
            (best, limit) = (expected, chance);
        }
    }
    for (row, chance) in rows.iter_mut().zip(chances) {
        row.best = vec![if chance >= limit { "yes" } else { "no" }.to_owned()];
    }
}

/// One of three classes of very different sizes, drawn from a softmax of the effects of 120 makers, driver and car;
/// two features have gaps.
pub fn claims(random: &mut Random, rows: [usize; 2]) -> Draw {
    let makers = random.levels(120, 0.9);
    Draw::of(random, rows, |random, _| {
        let (maker, region, previous) = (random.below(120), random.below(8), random.events(0.4));
        let [power, mileage] = random.normals();
        let age = 18 + random.below(70);
        let margin = makers[maker]
            + if age < 25 { 0.8 } else { 0.0 }
            + 0.9 * previous as f64
            + 0.4 * power
            + 0.5 * mileage
            + [0.0, 0.0, 0.6, 0.0, 0.6, 0.0, -0.4, 0.0][region];
        let shares = softmax([0.7 * margin - 3.2, 0.0, margin - 1.6]);
        let (years, driven) =
            (cell("age", &age), cell("mileage", &(13_000.0 * (0.8 * mileage).exp()).round()));
        let cells = vec![
            cell("maker", &format!("maker_{maker}")),
            cell("region", &["a", "b", "c", "d", "e", "f", "g", "h"][region]),
            sometimes(random, 0.15, years),
            cell("power", &(110.0 * (0.4 * power).exp()).round()),
            sometimes(random, 0.1, driven),
            cell("previous", &previous),
        ];
        let target = ["large", "none", "small"][random.one_of(&shares)].to_owned();
        Row { cells, target, best: shares.iter().map(|share| format!("{share:.6}")).collect() }
    })
}

/// Pictures of ten signs, moved by at most one pixel, with normal noise. The best prediction knows the signs.
pub fn glyphs(random: &mut Random, rows: [usize; 2]) -> Draw {
    const NOISE: f64 = 7.0;
    let signs: Vec<[[f64; 64]; 9]> = (0..10).map(|_| moved_sign(random)).collect();
    Draw::of(random, rows, |random, part| {
        let (sign, moved) = (random.below(10), random.below(9));
        let drawn = signs[sign][moved].map(|ink| ink + NOISE * random.normal());
        let cells = drawn.iter().enumerate().map(|(position, ink)| {
            cell(format!("pixel_{}_{}", position / 8, position % 8), &(ink.round().clamp(0.0, 16.0) as u8))
        });
        let likelihood = |places: &[[f64; 64]; 9]| -> f64 {
            let distance = |place: &[f64; 64]| -> f64 {
                place.iter().zip(&drawn).map(|(one, two)| (one - two) * (one - two)).sum()
            };
            places.iter().map(|place| (-distance(place) / (2.0 * NOISE * NOISE)).exp()).sum()
        };
        let best = match part {
            Part::Train => sign,
            Part::Test => {
                let chances: Vec<f64> = signs.iter().map(likelihood).collect();
                (0..10).max_by(|one, two| chances[*one].total_cmp(&chances[*two])).unwrap_or_default()
            }
        };
        Row { cells: cells.collect(), target: sign.to_string(), best: vec![best.to_string()] }
    })
}

/// A sign of four dots at nine places: the ink of each pixel, from 0 to 16.
fn moved_sign(random: &mut Random) -> [[f64; 64]; 9] {
    let dots: [[f64; 2]; 4] = std::array::from_fn(|_| [random.between(1.0, 6.0), random.between(1.0, 6.0)]);
    let ink = |x: f64, y: f64| {
        let dot = |[column, row]: &[f64; 2]| (-((x - column).powi(2) + (y - row).powi(2)) / 2.0).exp();
        16.0 * dots.iter().map(dot).sum::<f64>().min(1.0)
    };
    std::array::from_fn(|place| {
        let (right, down) = ((place % 3) as f64 - 1.0, (place / 3) as f64 - 1.0);
        std::array::from_fn(|position| ink((position % 8) as f64 - right, (position / 8) as f64 - down))
    })
}
