//! Headers and the ends of tables.

use mle_star_domain::trouble::Trouble;

use crate::table::{Column, Kind};
use crate::trouble::{File, quoted};

/// Refuses two columns of one name.
///
/// # Errors
/// Names both positions, from 1.
pub(crate) fn check_names(file: File<'_>, names: &[String]) -> Result<(), Trouble> {
    let mut seen = rustc_hash::FxHashMap::default();
    for (at, name) in names.iter().enumerate() {
        let Some(before) = seen.insert(name.as_str(), at) else { continue };
        let (first, second) = (before + 1, at + 1);
        return Err(if name.is_empty() {
            let hint = "give all columns a name, or remove them";
            file.trouble(format!("columns {first} and {second} have no name"), hint)
        } else {
            let what = format!("columns {first} and {second} are both called {}", quoted(name));
            file.trouble(what, "rename one of them; the first row must name the columns")
        });
    }
    Ok(())
}

/// Columns about whose cells the file says nothing.
pub(crate) fn untyped(names: Vec<String>) -> Vec<Column> {
    names.into_iter().map(|name| Column { name, kind: Kind::Untyped }).collect()
}

/// Whether a cell counts as empty where columns and rows at the end are left out.
pub(crate) fn is_blank(cell: &str) -> bool {
    cell.bytes().all(|byte| byte.is_ascii_whitespace())
}
