//! Writes table files as plain CSV: `convert FILE OUT [SHEET]`, or for each line of a list `convert --list LIST`, whose lines
//! are `FILE`, a tab and `OUT`. What cannot be read is told in one line.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use mle_star_formats::{Options, is_plain, open, write_csv};

fn main() -> io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        ["--list", list] => {
            for line in fs::read_to_string(list)?.lines() {
                let (from, to) = line.split_once('\t').unwrap_or((line, "/dev/null"));
                convert(from, to, None)?;
            }
            Ok(())
        }
        [from, to] => convert(from, to, None),
        [from, to, sheet] => convert(from, to, Some(sheet)),
        _ => Err(io::Error::other("convert FILE OUT [SHEET]")),
    }
}

fn convert(from: &str, to: &str, sheet: Option<&str>) -> io::Result<()> {
    let mut said = io::stdout().lock();
    let options = Options { sheet, ..Options::default() };
    let table = match open(Path::new(from), &options) {
        Ok(table) => table,
        Err(trouble) => return writeln!(said, "refused: {} ({})", trouble.message, trouble.hint),
    };
    let mut out = BufWriter::new(File::create(to)?);
    if let Err(trouble) = write_csv(&table, &mut out) {
        return writeln!(said, "refused: {} ({})", trouble.message, trouble.hint);
    }
    let plain = is_plain(Path::new(from)).unwrap_or_default();
    let ambiguous = &table.notation().ambiguous;
    let rows = table.row_count();
    writeln!(
        said,
        "{from}: {rows} rows, plain {plain} {} {:?} {ambiguous:?}",
        table.is_plain(),
        table.notes()
    )
}
