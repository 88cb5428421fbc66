//! The formats of tables, and the names of files that have them.

const PACKINGS: [&str; 4] = [".gz", ".zst", ".zstd", ".zip"];
const ENDINGS: [(&str, Format); 16] = [
    (".csv", Format::Delimited),
    (".tsv", Format::Delimited),
    (".tab", Format::Delimited),
    (".psv", Format::Delimited),
    (".txt", Format::Delimited),
    (".parquet", Format::Parquet),
    (".pq", Format::Parquet),
    (".feather", Format::ArrowFile),
    (".arrow", Format::ArrowFile),
    (".arrows", Format::ArrowStream),
    (".ipc", Format::ArrowFile),
    (".xlsx", Format::Excel),
    (".xlsm", Format::Excel),
    (".jsonl", Format::JsonLines),
    (".ndjson", Format::JsonLines),
    (".json", Format::JsonList),
];

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with a delimiter between cells: CSV, TSV.
    Delimited,
    /// Apache Parquet.
    Parquet,
    /// Arrow's IPC format as a file; Feather, version 2.
    ArrowFile,
    /// Arrow's IPC format as a stream.
    ArrowStream,
    /// An Excel workbook, `.xlsx`.
    Excel,
    /// A JSON object in each line.
    JsonLines,
    /// A JSON list of objects.
    JsonList,
}

impl Format {
    /// The name for people, with its article.
    pub fn name(self) -> &'static str {
        match self {
            Self::Delimited => "delimited text",
            Self::Parquet => "a Parquet file",
            Self::ArrowFile | Self::ArrowStream => "an Arrow file",
            Self::Excel => "an Excel workbook",
            Self::JsonLines => "JSON lines",
            Self::JsonList => "a JSON list",
        }
    }

    /// The ending of the names of its files, such as `.csv`; the first one if there are several.
    pub(crate) fn ending(self) -> &'static str {
        ENDINGS.iter().find(|(_, format)| *format == self).map_or(".csv", |(ending, _)| ending)
    }
}

/// Whether a file's name is that of a table: one of the endings of the formats, perhaps followed by that of a packing.
pub fn is_table_name(name: &str) -> bool {
    named(name).is_some()
}

/// The name without the endings of format and packing: `train` for `train.csv.gz`; all of it if it has none.
pub fn stem(name: &str) -> &str {
    let plain = unpacked(name);
    let lower = plain.to_ascii_lowercase();
    let ending = ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending));
    ending.map_or(plain, |(ending, _)| &plain[..plain.len() - ending.len()])
}

/// The format that a name says.
pub(crate) fn named(name: &str) -> Option<Format> {
    let lower = unpacked(name).to_ascii_lowercase();
    ENDINGS.iter().find(|(ending, _)| lower.ends_with(ending)).map(|(_, format)| *format)
}

fn unpacked(name: &str) -> &str {
    let lower = name.to_ascii_lowercase();
    let ending = PACKINGS.iter().find(|ending| lower.ends_with(*ending));
    ending.map_or(name, |ending| &name[..name.len() - ending.len()])
}
