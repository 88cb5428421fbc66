//! Numbers that typed formats hold as text: `12,345` is read there as in a CSV file.

use mle_star_domain::trouble::Trouble;

use crate::notation::{Notation, decide};
use crate::numbers::Tally;
use crate::shape::Kind;
use crate::table::Table;

/// The notation of a typed table: that of its columns of text. One pass over them finds it, which ends where no column can
/// hold numbers.
///
/// # Errors
/// As [`Table::each_row`].
pub(crate) fn with_notation(mut table: Table, like: Option<&Notation>) -> Result<Table, Trouble> {
    // Formats that say which columns are text mark none.
    let chosen = [of_kind(&table, Kind::Text), table.shape.marked.clone()].concat();
    if chosen.is_empty() {
        return Ok(table);
    }
    let tallies = tallies(&table, &chosen)?;
    let names: Vec<String> = table.shape.columns.iter().map(|column| column.name.clone()).collect();
    // What is undecided is decided as in the CSV file that is made of it.
    let found = decide(&names, &tallies, ',', like);
    let is_text = |at: usize| chosen.contains(&at) && tallies[at].has_comma_or_blank();
    let notation = &mut table.notation;
    notation.numbers = found.numbers.into_iter().filter(|column| is_text(column.at)).collect();
    notation.ambiguous = found.ambiguous.into_iter().filter(|column| is_text(column.at)).collect();
    Ok(table)
}

fn tallies(table: &Table, chosen: &[usize]) -> Result<Vec<Tally>, Trouble> {
    let mut tallies = vec![Tally::default(); table.shape.columns.len()];
    // Numbers of typed columns have decimal points.
    of_kind(table, Kind::Number).into_iter().for_each(|at| tallies[at].add("0.5"));
    let mut is_decided = false;
    let read = table.each_raw(Some(chosen), &mut |row| {
        match row.len() == chosen.len() {
            true => chosen.iter().zip(row).for_each(|(at, cell)| tallies[*at].add(cell)),
            false => tallies.iter_mut().zip(row).for_each(|(tally, cell)| tally.add(cell)),
        }
        is_decided = chosen.iter().all(|at| tallies[*at].is_text());
        if is_decided { Err(Trouble::new("decided", "")) } else { Ok(()) }
    });
    if is_decided { Ok(tallies) } else { read.map(|()| tallies) }
}

fn of_kind(table: &Table, kind: Kind) -> Vec<usize> {
    let columns = table.shape.columns.iter().enumerate();
    columns.filter(|(_, column)| column.kind == kind).map(|(at, _)| at).collect()
}
