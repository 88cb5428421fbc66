//! What scripts have to do to validate like the test, in the words of prompts.

use super::{NewSeries, Period, Periods, Protocol, Split, SplitKind};
use crate::layout;

/// How precisely scripts are told how to validate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What the split has to be like.
    Brief,
    /// The folds that all scripts of a run with this seed use, so that their scores can be compared.
    Folds {
        /// The seed of the run.
        seed: u32,
    },
}

/// How the folds of a file are validated, if rows are not divided by time.
const ALL_OTHERS: &str = "Validate the rows of each fold with models of the rows of all other folds";

impl Protocol {
    /// How scripts have to validate, a few sentences each; none if there is no split.
    pub fn validation_rules(&self, detail: Detail) -> Vec<String> {
        let Some(split) = &self.split else { return Vec::new() };
        if self.own_folds.is_some() {
            return vec![split.given_folds()];
        }
        if let Some(periods) = &self.periods {
            let folds = self.folds_of_periods(split, periods);
            let more = matches!(detail, Detail::Folds { .. }).then(|| self.known_in_advance());
            let new_series = periods.new_series.as_ref().map(NewSeries::rule);
            let rules = [self.period_to_predict(split, periods), folds];
            return rules.into_iter().chain(more).chain(new_series).collect();
        }
        if self.has_folds_file && split.kind != SplitKind::Time {
            return vec![split.folds_of_file()];
        }
        vec![match detail {
            Detail::Brief => split.instruction(),
            Detail::Folds { seed } => split.folds(seed),
        }]
    }

    /// The period that the rows to predict are in, and that a script derives it from its data.
    fn period_to_predict(&self, split: &Split, periods: &Periods) -> String {
        let Period { from, to, .. } = periods.held_out.as_ref().unwrap_or(&periods.test);
        if split.has_own_ends() {
            return split.stretches_to_predict(periods);
        }
        let gap = match periods.gap.as_str() {
            "" => String::new(),
            gap => format!("; between the last training row and its first row, {gap} are missing"),
        };
        let later = match periods.held_out {
            Some(_) => {
                " The script runs again on the original files, in which `train.csv` and `test.csv` reach one such period further."
            }
            None => "",
        };
        format!(
            "{}. `test.csv` is a period of {}, from {from} to {to}{gap}.{later} Compute horizons, windows, lags and dates from the tables, and never write them as constants.",
            split.premise(),
            periods.length
        )
    }

    /// The earlier periods that are validated.
    fn folds_of_periods(&self, split: &Split, periods: &Periods) -> String {
        let (column, count) = (split.column.as_deref().unwrap_or_default(), periods.folds.len());
        if split.has_own_ends() {
            return split.folds_of_stretches(periods, self.has_folds_file);
        }
        let fold = |(k, period): (usize, &Period)| format!("fold {k} from {} to {}", period.from, period.to);
        let folds = periods.folds.iter().enumerate().map(fold).collect::<Vec<_>>().join(", ");
        let folds = if self.has_folds_file {
            format!(
                "{}; rows that no fold validates are not in it. The {count} folds are earlier periods of that length: {folds}.",
                folds_file()
            )
        } else {
            format!("Validate on {count} earlier periods of that length, by `{column}`: {folds}.")
        };
        let before = match periods.gap.as_str() {
            "" => String::new(),
            gap => format!(" by more than the missing {gap}"),
        };
        let groups = match &split.groups {
            Some(groups) => format!(
                " A row is as late as the first row of its `{groups}`, so all rows of a group are on the same side. Do not use `{groups}` as a feature."
            ),
            None => String::new(),
        };
        format!(
            "{folds} Predict each fold as if its period were `test.csv`: train on all rows with a `{column}` earlier than its first row{before}, and on no others.{groups} Do not split at random."
        )
    }

    /// What is known of the rows to predict, and what is not.
    fn known_in_advance(&self) -> String {
        let targets: Vec<String> = self.targets.iter().map(|target| format!("`{target}`")).collect();
        let targets = if targets.is_empty() { "the target".to_owned() } else { targets.join(", ") };
        format!(
            "Known in advance of the rows to predict are the columns of `test.csv`. Not known are {targets} and the columns that only `train.csv` has: for a fold, use their values from its training rows only, such as lags that are not shorter than the distance from the last training row to the row that is predicted. Print the score of the first, second and last third of the periods as well, because the error may grow with that distance."
        )
    }
}

/// Where the folds are.
fn folds_file() -> String {
    format!(
        "Use the folds in `./input/{}`: a row ID of `train.csv` (or `row`, the 0-based number of the row, if that file has no ID column) and `fold`, from 0",
        layout::FOLDS
    )
}

impl Split {
    /// The stretches that the rows to predict are in, where series end at times of their own.
    fn stretches_to_predict(&self, periods: &Periods) -> String {
        let Period { from, to, .. } = periods.held_out.as_ref().unwrap_or(&periods.test);
        let gap = match periods.gap.as_str() {
            "" => String::new(),
            gap => format!(
                "; between the last training row of a series and its first row there, {gap} are missing"
            ),
        };
        let later = match periods.held_out {
            Some(_) => {
                " The script runs again on the original files, in which each series reaches one such stretch further."
            }
            None => "",
        };
        format!(
            "{}. `test.csv` has the next {} of each series, from {from} to {to} over all series{gap}.{later} Compute horizons, windows, lags and dates from the tables, for each series on its own, and never write them as constants.",
            self.premise(),
            periods.length
        )
    }

    /// The earlier stretches that are validated, where series end at times of their own.
    fn folds_of_stretches(&self, periods: &Periods, has_file: bool) -> String {
        let (count, series) = (periods.folds.len(), self.series_words());
        let column = self.column.as_deref().unwrap_or_default();
        let folds = match has_file {
            true => format!(
                "{}; rows that no fold validates are not in it. Of each series by {series}, the {count} folds are its last rows by `{column}`, one stretch as long as its rows of `test.csv` after the other, fold 0 the earliest.",
                folds_file()
            ),
            false => format!(
                "Validate on {count} folds: of each series by {series}, the last rows by `{column}`, one stretch as long as its rows of `test.csv` after the other, fold 0 the earliest."
            ),
        };
        let within = match self.within {
            true => {
                " Series with rows of `test.csv` between their training rows have as many single rows in each fold instead."
            }
            false => "",
        };
        let gap = match periods.gap.as_str() {
            "" => String::new(),
            gap => format!(
                ", without those of a series that are not earlier than its first row of the fold by more than the missing {gap}"
            ),
        };
        format!(
            "{folds}{within} Predict each fold as if it were `test.csv`: train on the rows that are in no fold and in earlier folds{gap}, and on no others. These may be later than rows of the fold that belong to other series, as they are for the rows to predict. Do not split at random, nor all series at one time."
        )
    }

    /// What to do with the folds of the file, if the user gave them.
    fn given_folds(&self) -> String {
        let groups = match (self.kind, &self.column) {
            (SplitKind::Groups, Some(column)) => format!(" Do not use `{column}` as a feature."),
            _ => String::new(),
        };
        format!("{}. {ALL_OTHERS}. The user chose these folds: use no others.{groups}", folds_file())
    }

    /// What to do with the folds of the file, if rows are not divided by time.
    fn folds_of_file(&self) -> String {
        let column = self.column.as_deref().unwrap_or_default();
        let rule = ALL_OTHERS;
        match self.kind {
            SplitKind::Groups => format!(
                "{}. {}. {rule}. All rows of a group have the same fold. Do not use `{column}` as a feature.",
                self.premise(),
                folds_file()
            ),
            _ => format!("{}. {rule}.", folds_file()),
        }
    }

    /// The folds that all scripts of a run with this seed use, so that their scores can be compared.
    pub fn folds(&self, seed: u32) -> String {
        let column = self.column.as_deref().unwrap_or_default();
        match self.kind {
            SplitKind::Rows => {
                format!("Use five folds: `KFold(n_splits=5, shuffle=True, random_state={seed})`.")
            }
            SplitKind::Stratified => format!(
                "Use five folds with the same share of each class: `StratifiedKFold(n_splits=5, shuffle=True, random_state={seed})`."
            ),
            SplitKind::Groups => format!(
                "{}. Use five folds of whole groups, or as many as there are groups if these are fewer: `GroupKFold(n_splits=min(5, train[\"{column}\"].nunique()))` with the groups of `{column}`. Do not use `{column}` as a feature.",
                self.premise()
            ),
            SplitKind::Time if let Some(groups) = &self.groups => format!(
                "{}. Give each row the time of the first row of its group: `first = train.groupby(\"{groups}\")[\"{column}\"].transform(\"min\")`, with `{column}` read as numbers or dates. Sort the rows by it and use three folds: train on the first 55, 70 and 85 % of the rows, validate each time on the next 15 %. All rows of a group stay together. Do not use `{groups}` as a feature.",
                self.premise()
            ),
            SplitKind::Time if self.has_own_ends() => format!(
                "{}. Give each row the share of the rows of its series that are earlier: `place = train.groupby([{}])[\"{column}\"].rank(pct=True)`, with `{column}` read as numbers or dates. Use three folds: train on the rows with a place up to 0.55, 0.7 and 0.85, validate each time on those up to 0.15 later.",
                self.premise(),
                self.series.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
            ),
            SplitKind::Time => format!(
                "{}. Sort the rows by `{column}` and use three folds: train on the first 55, 70 and 85 % of the rows, validate each time on the next 15 %. Rows of the same time stay together. For the score, never train on rows that are later than the validation rows.",
                self.premise()
            ),
        }
    }

    /// What a script has to do to validate like the test, in one or two sentences.
    pub fn instruction(&self) -> String {
        let column = self.column.as_deref().unwrap_or_default();
        match self.kind {
            SplitKind::Rows => "Choose the validation rows at random.".to_owned(),
            SplitKind::Stratified => {
                "Choose the validation rows at random, with the same share of each class.".to_owned()
            }
            SplitKind::Groups => format!(
                "{}: keep all rows with the same `{column}` on the same side of a split, and do not use `{column}` as a feature.",
                self.premise()
            ),
            SplitKind::Time if let Some(groups) = &self.groups => format!(
                "{}: train on groups whose first row is earlier and validate on groups whose first row is later. Keep all rows with the same `{groups}` on the same side of a split, and do not use `{groups}` as a feature.",
                self.premise()
            ),
            SplitKind::Time if self.has_own_ends() => format!(
                "{}: train on the earlier rows of each series and validate on its last rows. Do not split at random, nor all series at one time.",
                self.premise()
            ),
            SplitKind::Time => format!(
                "{}: train on earlier rows and validate on later rows. Do not split at random.",
                self.premise()
            ),
        }
    }

    /// Why rows are divided by a column, in one sentence.
    fn premise(&self) -> String {
        let column = self.column.as_deref().unwrap_or_default();
        match (self.kind, &self.groups) {
            (SplitKind::Time, Some(groups)) => format!(
                "Rows with the same `{groups}` depend on each other, and rows to predict count as later in `{column}` than the training rows"
            ),
            (SplitKind::Groups, _) if self.given => {
                format!("Rows with the same `{column}` depend on each other")
            }
            (SplitKind::Groups, _) => {
                format!("The test rows belong to other values of `{column}` than the training rows")
            }
            (SplitKind::Time, None) if self.has_own_ends() => format!(
                "Series by {} end at times of their own, and {}rows to predict are later in `{column}` than the training rows of their series, but not than those of other series",
                self.series_words(),
                if self.within { "most " } else { "" }
            ),
            _ if self.given => {
                format!("Rows to predict count as later in `{column}` than the training rows")
            }
            _ => format!("The test rows are later in `{column}` than the training rows"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::GivenFolds;
    use crate::protocol::Holdout;

    fn protocol(kind: SplitKind, has_folds_file: bool, periods: Option<Periods>) -> Protocol {
        let column = matches!(kind, SplitKind::Groups | SplitKind::Time).then(|| "day".to_owned());
        Protocol {
            split: Some(Split { kind, column, ..Split::default() }),
            holdout: Holdout::Off { why: String::new() },
            rows: 100,
            verifies: true,
            unverified: None,
            formula: String::new(),
            by_order: false,
            class_scores: false,
            comparison: String::new(),
            baselines: Vec::new(),
            is_papers: false,
            targets: vec!["visits".to_owned()],
            periods,
            has_folds_file,
            own_folds: None,
            like_rows: false,
            mean_over_periods: false,
        }
    }

    fn period(from: &str, to: &str) -> Period {
        Period { from: from.to_owned(), to: to.to_owned(), ..Period::default() }
    }

    /// With 7 days between training and test rows.
    fn periods() -> Periods {
        Periods {
            test: period("2021-05-01", "2021-05-28"),
            held_out: Some(period("2021-04-03", "2021-04-30")),
            folds: vec![period("2021-02-06", "2021-03-05"), period("2021-03-06", "2021-04-02")],
            length: "28 days".to_owned(),
            gap: "7 days".to_owned(),
            ..Periods::default()
        }
    }

    /// Checks that the rules have these parts, and none of the others.
    fn check(protocol: &Protocol, detail: Detail, says: &[&str], not: &[&str]) {
        let rules = protocol.validation_rules(detail).join("\n");
        for part in says {
            assert!(rules.contains(part), "no {part:?} in {rules}");
        }
        for part in not {
            assert!(!rules.contains(part), "{part:?} in {rules}");
        }
    }

    const FULL: Detail = Detail::Folds { seed: 42 };
    const FILE: &str = "`./input/folds.csv`";

    #[test]
    fn series_that_end_at_times_of_their_own_are_told() {
        let own = |within, periods: Option<Periods>| {
            let mut protocol = protocol(SplitKind::Time, true, periods);
            let split = protocol.split.as_mut().unwrap();
            (split.series, split.within) = (vec!["shop".to_owned(), "item".to_owned()], within);
            protocol
        };
        let all = [
            "Series by `shop` and `item` end at times of their own, and rows to predict are later in `day`",
            "the next 28 days of each series, from 2021-04-03 to 2021-04-30 over all series",
            FILE,
            "the 2 folds are its last rows by `day`",
            "by more than the missing 7 days",
        ];
        check(&own(false, Some(periods())), FULL, &all, &["single rows", "55"]);
        check(&own(true, Some(periods())), FULL, &["as many single rows in each fold instead"], &[]);
        // The series are too short for periods.
        let ranks = "`place = train.groupby([\"shop\", \"item\"])[\"day\"].rank(pct=True)`";
        check(&own(false, None), FULL, &[ranks, "0.55, 0.7 and 0.85"], &[FILE]);
    }

    #[test]
    fn folds_are_read_from_their_file() {
        let seeded = "random_state=42";
        check(&protocol(SplitKind::Rows, true, None), FULL, &[FILE, "all other folds"], &[seeded]);
        check(&protocol(SplitKind::Rows, false, None), FULL, &[seeded], &[FILE]);
        for (kind, part) in [(SplitKind::Rows, "use no others."), (SplitKind::Groups, "Do not use `day` as")]
        {
            let own_folds = Some(GivenFolds { from: "mine".to_owned(), count: 3 });
            let given = Protocol { own_folds, ..protocol(kind, true, None) };
            check(&given, FULL, &[FILE, "all other folds", part], &[seeded, "same fold"]);
        }
        check(&protocol(SplitKind::Stratified, true, None), Detail::Brief, &[FILE], &["at random"]);
        let groups = ["Do not use `day` as a feature", FILE];
        check(&protocol(SplitKind::Groups, true, None), FULL, &groups, &["GroupKFold"]);
        // The training time is too short for periods.
        check(&protocol(SplitKind::Time, true, None), FULL, &["55, 70 and 85 %"], &[FILE]);
    }
}
