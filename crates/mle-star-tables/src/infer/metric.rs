//! Infers the metric and its direction.

use mle_star_domain::metric::Direction;
use mle_star_domain::trouble::Trouble;

use super::Guess;
use mle_star_metrics::names::Metric;

const SMALLER_WINS: [&str; 8] =
    ["error", "loss", "distance", "deviation", "perplexity", "rmse", "mse", "mae"];
const LARGER_WINS: [&str; 14] = [
    "accuracy",
    "score",
    "auc",
    "f1",
    "f2",
    "precision",
    "recall",
    "kappa",
    "correlation",
    "iou",
    "dice",
    "r2",
    "map",
    "ndcg",
];

/// The given metric, otherwise the one in the description.
pub(super) fn name(
    description: &str,
    given: Option<&str>,
    guesses: &mut Vec<Guess>,
) -> Result<String, Trouble> {
    if let Some(name) = given {
        return Ok(name.to_owned());
    }
    let Some(mention) = Metric::find_in(description) else {
        let message = if description.trim().is_empty() {
            "the evaluation metric is not given, and there is no description.md that could name it"
        } else {
            "the evaluation metric is not given, and the description does not name one clearly"
        };
        return Err(Trouble::new(
            message,
            "give it with --metric, for example --metric RMSE (or evaluation_metric in the task file)",
        ));
    };
    let reason = format!("the description says: {}", shorten(&mention.line));
    guesses.push(Guess { field: "evaluation_metric", value: mention.metric.name().into_owned(), reason });
    Ok(mention.metric.name().into_owned())
}

/// The given direction, otherwise the one implied by the metric's name.
pub(super) fn direction(
    metric: &str,
    given: Option<Direction>,
    guesses: &mut Vec<Guess>,
) -> Result<Direction, Trouble> {
    let known = Metric::parse(metric);
    if let (Some(known), Some(given)) = (known, given) {
        return agreeing(known, given);
    }
    if let Some(given) = given {
        return Ok(given);
    }
    let (direction, reason) = match known {
        Some(known) => {
            (known.direction(), format!("{known} is better when it is {}", known.direction().comparative()))
        }
        None => by_words(metric)?,
    };
    guesses.push(Guess { field: "metric_direction", value: direction.name().to_owned(), reason });
    Ok(direction)
}

fn agreeing(known: Metric, given: Direction) -> Result<Direction, Trouble> {
    let right = known.direction();
    if right == given {
        return Ok(given);
    }
    let message = format!("metric {known} and direction {} contradict each other", given.name());
    let hint =
        format!("use --direction {} (metric_direction in the task file), or leave it out", right.name());
    Err(Trouble::new(message, hint))
}

fn by_words(metric: &str) -> Result<(Direction, String), Trouble> {
    let lower = metric.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
    let word_in =
        |list: &[&str]| words.iter().find(|word| list.contains(word)).map(|word| (*word).to_owned());
    if let Some(word) = word_in(&SMALLER_WINS) {
        return Ok((Direction::Minimize, format!("its name says \"{word}\"")));
    }
    if let Some(word) = word_in(&LARGER_WINS) {
        return Ok((Direction::Maximize, format!("its name says \"{word}\"")));
    }
    let message = format!("it is not known whether a larger or a smaller \"{metric}\" is better");
    Err(Trouble::new(
        message,
        "give --direction maximize or --direction minimize (metric_direction in the task file)",
    ))
}

fn shorten(line: &str) -> String {
    match line.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
