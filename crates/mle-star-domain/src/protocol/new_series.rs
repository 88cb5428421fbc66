//! New series: series of the test table that the training table does not have, such as new products.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The shares of rows whose series have no earlier row, such as those of new products, stores or patients. A split by time
/// has them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewSeries {
    /// The column that names the series, or the columns that do so together.
    pub columns: Vec<String>,
    /// The share of the test rows whose series are new, from 0 to 1.
    #[serde(rename = "test")]
    pub share_of_test: f64,
    /// The share of the rows of earlier periods whose series are new there, with the tables unchanged.
    #[serde(rename = "before")]
    pub share_of_earlier_periods: f64,
    /// The share of the rows of the search's periods whose series are new there, after the history of some series was left out
    /// to make the periods like the test table; `None` if nothing was left out, so that scores hold for known series only.
    #[serde(rename = "search")]
    pub share_of_search: Option<f64>,
    /// The reason why nothing was left out, in one sentence; empty if something was.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl NewSeries {
    /// The shares, and what follows from them for scores, in one line for people.
    pub fn words(&self) -> String {
        let (test, before) = (percent(self.share_of_test), percent(self.share_of_earlier_periods));
        let new = self.is_new("training row");
        match self.share_of_search {
            Some(search) => format!(
                "{test} of the test rows {new}; the periods are made alike ({} of their rows instead of {before})",
                percent(search)
            ),
            None => format!(
                "{test} of the test rows {new}, but {before} of the rows of the periods: the score holds for known ones only ({})",
                self.why
            ),
        }
    }

    /// What scripts have to do with rows of new series, in a few sentences.
    pub(super) fn rule(&self) -> String {
        let start = format!(
            "About {} of the rows of `test.csv` {}",
            percent(self.share_of_test),
            self.is_new("row of `train.csv`")
        );
        let history = "What comes from the history of their own series is missing there: predict such rows by what other series with the same values of other columns have, and let some training rows lack their history as well, so that models learn it";
        match self.share_of_search {
            Some(_) => format!(
                "{start}, and so have the rows of each fold beside earlier rows. {history}. Print the score of both kinds of rows, too. In the original files hardly any row of a fold is new: decide nothing by folds there that suits known series only."
            ),
            None => format!(
                "{start}, but hardly any row of a fold: the score says nothing about them. {history}, even if the score does not gain by it."
            ),
        }
    }

    /// The end of a sentence about rows of new series. `rows` names the rows that do not have such series.
    fn is_new(&self, rows: &str) -> String {
        let names: Vec<String> = self.columns.iter().map(|column| format!("`{column}`")).collect();
        match names.as_slice() {
            [name] => format!("have a value of {name} that no {rows} has"),
            _ => format!("have values of {} that no {rows} has together", names.join(" and ")),
        }
    }
}

/// A share in percent, with one digit where it is small.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        0.05..9.95 => format!("{percent:.1} %"),
        _ => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_series_are_told() {
        let columns = vec!["shop".to_owned(), "item".to_owned()];
        let alike = NewSeries {
            columns,
            share_of_test: 0.5,
            share_of_earlier_periods: 0.012,
            share_of_search: Some(0.48),
            why: String::new(),
        };
        let words = "50 % of the test rows have values of `shop` and `item` that no training row has together; the periods are made alike (48 % of their rows instead of 1.2 %)";
        assert_eq!(alike.words(), words);
        let known =
            NewSeries { share_of_search: None, why: "no rows are held out".to_owned(), ..alike.clone() };
        assert!(known.words().ends_with("for known ones only (no rows are held out)"), "{}", known.words());
        assert!(alike.rule().contains("original files") && !known.rule().contains("original files"));
    }
}
