//! The script that combines the predictions of several solutions by weights.

use crate::solution::{Solution, SolutionPhase};
use mle_star_domain::question::CombinedBy;

/// The Python text that surrounds the members.
const SCRIPT: &str = include_str!("../python/composition.py");
/// The line of [`SCRIPT`] that the members replace.
const MEMBERS: &str = "# MEMBERS\n";
/// How the settings of [`SCRIPT`] begin. They reach to [`MEMBERS`].
const SETTINGS: &str = "ID = ";

/// The script that predicts with the fitted model of a solution, or with those of the solutions that are combined.
const PREDICT: &str = include_str!("../python/predict.py");
/// The line of [`PREDICT`] that is replaced by the functions that combine tables, which are taken from [`SCRIPT`].
const COMBINATION: &str = "# COMBINATION\n";
/// The text where these functions begin, and the text after them.
const FUNCTIONS: [&str; 2] = ["def combined(", "weights = ["];

/// The script that predicts with the fitted model beside it.
pub fn predict_script() -> String {
    let [begin, end] = FUNCTIONS;
    let functions = SCRIPT.find(begin).and_then(|at| SCRIPT.get(at..)).unwrap_or_default();
    let functions = functions.split_once(end).map_or(functions, |(functions, _)| functions);
    let types = "# A table is its columns by their names, with cells as text.\nTable = dict[str, list[str]]\nID, BY = None, \"mean\"\n";
    PREDICT.replacen(COMBINATION, &format!("{types}\n\n{}\n\n", functions.trim_end()), 1)
}

/// Solutions whose predictions are combined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Composition {
    /// Of labels with equal weights, that of the earliest member wins.
    pub members: Vec<Part>,
    pub by: CombinedBy,
    /// The column that names rows; without one, rows are taken in the order of each file.
    pub id_column: Option<String>,
}

/// A solution in a [`Composition`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub solution: Solution,
    /// Where it comes from, in one line.
    pub title: String,
    pub weight: f64,
}

impl Composition {
    /// The solutions.
    pub fn solutions(&self) -> impl Iterator<Item = &Solution> {
        self.members.iter().map(|part| &part.solution)
    }

    /// How it combines them, as its script and models name it.
    pub fn rule(&self) -> String {
        match self.by {
            CombinedBy::Mean => "mean".to_owned(),
            CombinedBy::Votes => "votes".to_owned(),
            CombinedBy::Sets => "sets".to_owned(),
            CombinedBy::Guesses(most) => format!("guesses {most}"),
            CombinedBy::ClassScores => "class_scores".to_owned(),
        }
    }

    /// The same combination of other versions of the solutions, which are as many.
    #[must_use]
    pub fn of(&self, solutions: Vec<Solution>) -> Self {
        let mut changed = self.clone();
        changed.members.iter_mut().zip(solutions).for_each(|(part, solution)| part.solution = solution);
        changed
    }

    /// The script: each solution is a function that returns its text, and runs in a folder of its own.
    pub fn script(&self) -> Solution {
        let (head, tail) = SCRIPT.split_once(MEMBERS).unwrap_or((SCRIPT, ""));
        let (head, _) = head.split_once(SETTINGS).unwrap_or((head, ""));
        let members = || (1..).zip(&self.members);
        let functions: String = members().map(|(number, part)| part.function(number)).collect();
        let weight = |(number, part): (usize, &Part)| format!("    (member_{number}, {}),\n", part.weight);
        let weights: String = members().map(weight).collect();
        let id = self.id_column.as_ref().map_or_else(|| "None".to_owned(), |id| literal(id));
        let by = self.rule();
        let text = format!("{head}ID = {id}\nBY = {by:?}\n\n\n{functions}MEMBERS = [\n{weights}]\n{tail}");
        Solution::new(text, SolutionPhase::Ensemble)
    }
}

impl Part {
    fn function(&self, number: usize) -> String {
        let title = self.title.replace(['"', '\\', '\n'], "'");
        let text = quoted(self.solution.text());
        format!("def member_{number}():\n    \"\"\"{title}.\"\"\"\n    return {text}\n\n\n")
    }
}

/// A script as a Python literal that is as readable as the script.
fn quoted(script: &str) -> String {
    let text = format!("\n{}\n", script.trim_end());
    // A raw literal cannot hold its own quotes, and a carriage return would become a line end.
    let quotes = ["'''", "\"\"\""].into_iter().find(|quotes| !text.contains(quotes) && !text.contains('\r'));
    quotes.map_or_else(|| literal(&text), |quotes| format!("r{quotes}{text}{quotes}"))
}

/// A text as a Python literal; JSON strings are valid Python.
fn literal(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_stay_readable_where_possible() {
        let check = |script: &str, expected: &str| assert_eq!(quoted(script), expected, "{script:?}");
        check("x = r'\\d'\n", "r'''\nx = r'\\d'\n'''");
        check("\"\"\"Doc.\"\"\"\nx = 1", "r'''\n\"\"\"Doc.\"\"\"\nx = 1\n'''");
        check("x = '''a'''", "r\"\"\"\nx = '''a'''\n\"\"\"");
        check("x = '''a''' + \"\"\"b\"\"\"", "\"\\nx = '''a''' + \\\"\\\"\\\"b\\\"\\\"\\\"\\n\"");
        check("x = 1\r\ny = 2", "\"\\nx = 1\\r\\ny = 2\\n\"");
    }
}
