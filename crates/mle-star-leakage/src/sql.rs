//! Tables that a query in SQL makes from those of the script.

use crate::calls::Arguments;
use crate::info::Kind;
use crate::machine::Machine;
use crate::rows::RowsId;
use crate::table::{Column, Table};
use crate::value::Value;

/// Functions that compute one number from many rows.
const AGGREGATES: &str = "avg sum stddev stddev_samp var_samp median min max total quantile_cont";

impl Machine<'_> {
    /// `table.to_sql("name", connection)`: queries know the table by this name.
    pub(crate) fn register(&mut self, table: &Table, name: &Value) {
        if let Some(name) = name.constant() {
            let value = self.table(table.clone());
            self.registered.push((name, value));
        }
    }

    /// The table that a query makes: with all rows of the first table, if it selects `*`.
    pub(crate) fn queried(&mut self, query: &Value, arguments: &Arguments) -> Option<Value> {
        let text = query.constant()?.to_lowercase();
        let words: Vec<&str> = words(&text).collect();
        let table = self.table_in_query(&words)?;
        let all = text.contains('*') && !words.windows(2).any(|pair| pair == ["count", "*"]);
        let mut made = if all { table.clone() } else { Table::of(RowsId::UNKNOWN) };
        // What rows a condition or a window leaves is not known.
        let partly = ["where", "having", "preceding", "limit", "join_asof"];
        if partly.iter().any(|word| words.contains(word)) {
            made.rows = RowsId::UNKNOWN;
            return Some(self.table(made));
        }
        for (column, name) in aggregates(&text) {
            let target = self.targets.iter().find(|target| target.to_lowercase() == column);
            if target.is_some() {
                let deps = self.learn(Kind::Target, arguments.range, table.rows);
                made.set(name.into(), Column::learnt(deps));
            }
        }
        Some(self.table(made))
    }

    /// The first table of a query that the script made: by its name in the database, or by that of its variable.
    fn table_in_query(&self, words: &[&str]) -> Option<Table> {
        let names = words.windows(2).filter(|pair| matches!(pair[0], "from" | "join")).map(|pair| pair[1]);
        for name in names {
            let known = self.registered.iter().rev().find(|(known, _)| known.to_lowercase() == name);
            let value = known.map(|(_, value)| value).or_else(|| self.state.variable(self.scope, name));
            if let Some(table) = value.and_then(|value| self.table_of(value)) {
                return Some(table.clone());
            }
        }
        None
    }
}

/// The words of a query, and its stars.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let part = |letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '*';
    text.split(part).filter(|word| !word.is_empty())
}

/// Columns of which a query computes a number from many rows, with the names of the results.
fn aggregates(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for name in AGGREGATES.split_whitespace() {
        for (at, _) in text.match_indices(&format!("{name}(")) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|letter| letter.is_alphanumeric() || letter == '_') {
                continue;
            }
            let Some((column, after)) = text[at + name.len() + 1..].split_once(')') else { continue };
            let column = words(column).last().unwrap_or_default().to_owned();
            let mut rest = after.trim_start();
            if let Some(window) = rest.strip_prefix("over") {
                rest = window.split_once(')').map_or("", |(_, rest)| rest);
            }
            let mut names = words(rest);
            let alias = match names.next() {
                Some("as") => names.next(),
                Some("from") | None => Some(column.as_str()),
                other => other,
            };
            let alias = alias.unwrap_or_default().to_owned();
            found.push((column, alias));
        }
    }
    found
}
