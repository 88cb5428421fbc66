//! How much of the target's variance hour, day of the week and month explain, after the mean of the surrounding stretch is
//! subtracted (adjusted R² of the detrended target).

use super::super::words;
use super::Course;
use crate::dates::{DAY, calendar::month_of};

const HOUR: f64 = 3_600.0;
const WEEK: f64 = 7.0 * DAY;
const YEAR: f64 = 365.25 * DAY;
/// The level around a day of the week is the mean of so many weeks.
const WEEKS: f64 = 4.0;
/// The times have to cover so many of the stretches whose mean is subtracted.
const FEWEST: f64 = 2.0;
/// With fewer rows, nothing is told.
const FEWEST_ROWS: usize = 50;

/// 1 January 1970 was a Thursday.
const DAYS: [&str; 7] = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A season: what comes back, and the stretch whose mean is taken away.
struct Season {
    name: &'static str,
    /// The stretch in words.
    within: &'static str,
    /// Its length in seconds.
    stretch: f64,
    /// How many values it has, such as 24 hours of the day.
    places: usize,
    /// The number of the value at a time, from 0.
    place: fn(f64) -> usize,
    /// The name of a value.
    named: fn(usize) -> String,
}

/// The parts of the variance in one line; `None` if no season can be seen in these times.
pub(super) fn line(course: &Course, target: &str) -> Option<String> {
    if !course.has_dates() || course.moments.len() < FEWEST_ROWS {
        return None;
    }
    let found: Vec<String> = seasons(course).iter().filter_map(|season| season.told(course)).collect();
    (!found.is_empty()).then(|| {
        format!(
            "- Seasons of {target}, of the variance around the mean of each series and stretch: {}",
            found.join("; ")
        )
    })
}

/// The seasons that these times can show.
fn seasons(course: &Course) -> Vec<Season> {
    let (step, span) = (course.step, course.span());
    let hour = Season {
        name: "hour of the day",
        within: "a day",
        stretch: DAY,
        places: 24,
        place: |at| whole(at.rem_euclid(DAY) / HOUR),
        named: |hour| format!("{hour}:00"),
    };
    let day = Season {
        name: "day of the week",
        within: "four weeks",
        stretch: WEEKS * WEEK,
        places: 7,
        place: |at| whole((at / DAY).floor().rem_euclid(7.0)),
        named: |day| DAYS.get(day).copied().unwrap_or_default().to_owned(),
    };
    let month = Season {
        name: "month",
        within: "a year",
        stretch: YEAR,
        places: 12,
        place: |at| month_of(at).saturating_sub(1),
        named: |month| MONTHS.get(month).copied().unwrap_or_default().to_owned(),
    };
    let fits = [
        (step <= DAY / 4.0 && span >= FEWEST * DAY, hour),
        (step <= 1.5 * DAY && span >= FEWEST * WEEKS * WEEK, day),
        (step <= 0.3 * YEAR && span >= FEWEST * YEAR, month),
    ];
    fits.into_iter().filter_map(|(fits, season)| fits.then_some(season)).collect()
}

impl Season {
    fn told(&self, course: &Course) -> Option<String> {
        let last = course.last() + course.step / 2.0;
        let stretch = |at: f64| ((last - at) / self.stretch).floor();
        let (mut sums, mut rows) = (vec![(0.0_f64, 0.0_f64); self.places], 0.0_f64);
        let (mut all, mut stretches, mut total) = (0.0_f64, 0.0_f64, 0.0_f64);
        for series in course.each() {
            for part in series.chunk_by(|a, b| stretch(a.at).total_cmp(&stretch(b.at)).is_eq()) {
                let mean = part.iter().map(|moment| moment.value).sum::<f64>() / part.len() as f64;
                stretches += 1.0;
                for moment in part {
                    let away = moment.value - mean;
                    let (count, sum) = sums.get_mut((self.place)(moment.at))?;
                    (*count, *sum) = (*count + 1.0, *sum + away);
                    (all, rows, total) = (all + away * away, rows + 1.0, total + moment.value);
                }
            }
        }
        let seen: Vec<usize> = (0..self.places).filter(|place| sums[*place].0 > 0.0).collect();
        let between: f64 = seen.iter().map(|place| sums[*place].1.powi(2) / sums[*place].0).sum();
        let by_chance = (seen.len() as f64 - 1.0) / (rows - stretches);
        if seen.len() < 2 || all <= 0.0 || !(0.0..1.0).contains(&by_chance) {
            return None;
        }
        let share = ((between / all - by_chance) / (1.0 - by_chance)).max(0.0);
        let mean = |place: &usize| sums[*place].1 / sums[*place].0;
        let by_mean = |a: &&usize, b: &&usize| mean(a).total_cmp(&mean(b));
        let (low, high) = (seen.iter().min_by(by_mean)?, seen.iter().max_by(by_mean)?);
        let level = total / rows;
        let far = |place: &usize| {
            let away = mean(place);
            let relative = away / level;
            match level > 0.0 && relative.abs() < 10.0 {
                true => format!("{} {:+.0}%", (self.named)(*place), 100.0 * relative),
                false => format!("{} {}", (self.named)(*place), words::signed(away)),
            }
        };
        let range = if share >= 0.005 {
            format!(" (lowest {}, highest {})", far(low), far(high))
        } else {
            String::new()
        };
        Some(format!("{} {} within {}{range}", self.name, words::percent(share), self.within))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of an hour or a day")]
fn whole(place: f64) -> usize {
    place as usize
}
