//! Delimited text in all dialects.

use mle_star_formats::{Encoding, Options, is_plain};

use crate::files::Folder;

fn utf16(text: &str) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
}

/// Text, expected CSV, expected notes.
fn check(name: &str, bytes: &[u8], csv: &str, notes: &[&str]) {
    let folder = Folder::new();
    let (found, table) = folder.read(name, bytes).unwrap();
    assert_eq!(found, csv, "{name} {:?}", String::from_utf8_lossy(bytes));
    assert_eq!(table.notes(), notes, "{name} {:?}", String::from_utf8_lossy(bytes));
    if is_plain(table.path()).unwrap() {
        assert!(table.is_plain(), "{}", String::from_utf8_lossy(bytes));
    }
    let plain = folder.read("plain.csv", found.as_bytes()).unwrap();
    assert_eq!((plain.0.as_str(), plain.1.notes()), (csv, Vec::new()));
    assert!(plain.1.is_plain(), "{csv}");
}

#[test]
fn dialects_become_plain_csv() {
    let plain = "a,b\n1,x\n2,\"y,z\"\n";
    check("t.csv", plain.as_bytes(), plain, &[]);
    check("t.csv", b"a,b\r\n1,x\r\n2,\"y,z\"\r\n", plain, &[]);
    check("t.csv", b"a,b\r1,x\r2,\"y,z\"\r", plain, &["lines end with CR"]);
    check("t.csv", b"a;b\n1;x\n2;y,z\n", plain, &["the text is separated by `;`"]);
    check("t.tsv", b"a\tb\n1\tx\n2\ty,z\n", plain, &["the text is tab-separated"]);
    check("t.txt", b"a|b\n1|x\n2|y,z\n", plain, &["the text is separated by `|`"]);
    check("t.csv", b"sep=;\na;b\n1;x\n2;y,z\n", plain, &["the text is separated by `;`"]);
    check("t.csv", &utf16(plain), plain, &["the text is UTF-16"]);
    check(
        "t.csv",
        "\u{feff}a,b\n1,ü\n".as_bytes(),
        "a,b\n1,ü\n",
        &["the text is UTF-8 with a byte order mark"],
    );
    check("t.csv", b"a,b\n1,\xFC\x80\n", "a,b\n1,ü€\n", &["the text is Windows-1252 (Latin-1)"]);
    check("t.csv", b"a,b\n", "a,b\n", &[]);
    check("t.csv", b"a,b", "a,b\n", &[]);
}

#[test]
fn numbers_are_read_where_a_column_agrees() {
    let note = |name: &str, words: &str| format!("the numbers of `{name}` have {words}");
    check(
        "t.csv",
        b"a,b\n1,\"1,5\"\n2,\"22,25\"\n",
        "a,b\n1,1.5\n2,22.25\n",
        &[&note("b", "decimal comma: 1,5")],
    );
    check(
        "t.csv",
        b"a;b\n1;1.234,56\n2;7\n",
        "a,b\n1,1234.56\n2,7\n",
        &["the text is separated by `;`", &note("b", "`.` between thousands and decimal comma: 1.234,56")],
    );
    check(
        "t.csv",
        "a,b\n1,1 234\n2,NA\n".as_bytes(),
        "a,b\n1,1234\n2,NA\n",
        &[&note("b", "` ` between thousands: 1 234")],
    );
    // One cell that is no number, or that has another notation: the column stays as it is.
    for cell in ["x", "2.5", "1,2,3", "007"] {
        let text = format!("a,b\n1,\"1,5\"\n2,\"{cell}\"\n");
        let cell = if cell.contains(',') { format!("\"{cell}\"") } else { cell.to_owned() };
        check("t.csv", text.as_bytes(), &format!("a,b\n1,\"1,5\"\n2,{cell}\n"), &[]);
    }
    // IDs stay as they are.
    let ids = "id,x\n007,1\n2e4,2\n12345678901234567890,3\n1.0,4\n";
    check("t.csv", ids.as_bytes(), ids, &[]);
}

#[test]
fn ends_without_content_are_left_out() {
    check(
        "t.csv",
        b"\xEF\xBB\xBFa,b,,\r\n1,x,,\r\n2,,,\r\n,,,\r\n,,,\r\n",
        "a,b\n1,x\n2,\n",
        &["the text is UTF-8 with a byte order mark", "2 empty columns and 2 empty rows at the end left out"],
    );
    check("t.csv", b"a,b\n1,x\n,\n2,y\n", "a,b\n1,x\n,\n2,y\n", &[]);
    check("t.csv", b"a,b\n1,x\n   \n2,y\n  \n", "a,b\n1,x\n2,y\n", &[]);
    check("t.csv", b",a\n0,x\n1,y\n", ",a\n0,x\n1,y\n", &[]);
    check("t.csv", b"a,b,\n1,x,\n2,y,z\n", "a,b,\n1,x,\n2,y,z\n", &[]);
    check(
        "t.csv",
        b"a,b\n0,x,1\n1,y,2\n",
        ",a,b\n0,x,1\n1,y,2\n",
        &["rows have one cell more than the header, so the first column has no name"],
    );
}

#[test]
fn what_cannot_be_read_is_refused_in_one_sentence() {
    let check = |name: &str, bytes: &[u8], message: &str| {
        let found = Folder::new().read(name, bytes).map(|(csv, _)| csv);
        assert_eq!(found, Err(format!("{name}: {message}")), "{}", String::from_utf8_lossy(bytes));
    };
    check("t.csv", b"", "the file is empty");
    check("t.csv", b"\n\n", "the table has no header");
    check("t.csv", b",,\n1,2,3\n", "columns 1 and 2 have no name");
    check("t.csv", b"a,b,a\n1,2,3\n", "columns 1 and 3 are both called `a`");
    check("t.csv", b"a,b\n1,2\n\n1,2,3\n1,2\n", "the row at line 4 has 3 cells, but the header has 2");
    check("t.csv", b"a,b\r\n1,2\r\n1\r\n1,2\r\n", "the row at line 3 has 1 cell, but the header has 2");
    check("t.csv", b"a,b\n1,\"2\n3,4\n", "the row at line 2 has a quote that is never closed");
    check("t.csv", b"a,b\n1,2\n3,\x004\n", "a NUL character stands in the row at line 3");
    check(
        "t.csv",
        "a,b\n1,ü\n2,ñ\n".as_bytes().iter().chain(b"3,\xFC\n").copied().collect::<Vec<u8>>().as_slice(),
        "the text is UTF-8, but one byte is not, the first of them near line 4",
    );
    check("t.xlsx", b"a,b\n1,2\n", "by its name it is an Excel workbook, but it seems to be other text");
    check("t.parquet", b"a,b\n1,2\n", "by its name it is a Parquet file, but it seems to be other text");
    check("t.csv", b"PAR1\0...", "its content is not what its name says: it is a Parquet file");
    check("t.csv", b"BZh91AY&SY\xFF", "it is no table that can be read, but a bzip2 file");
    check("t.csv", b"<!DOCTYPE html>", "it is no table that can be read, but a web page");
}

#[test]
fn ambiguous_columns_are_told() {
    let folder = Folder::new();
    let (csv, table) = folder.read("t.tsv", b"a\tb\n1\t1,234\n2\t12,345\n").unwrap();
    assert_eq!(csv, "a,b\n1,\"1,234\"\n2,\"12,345\"\n");
    let found = &table.notation().ambiguous[0];
    let words = [&found.name, &found.example, &found.as_decimal, &found.otherwise].map(String::as_str);
    assert_eq!(words, ["b", "1,234", "1.234", "1234"]);
    // A table with the same columns decides.
    let (_, like) = folder.read("u.tsv", b"B\tc\n1,5\t1\n").unwrap();
    let options = Options { like: Some(like.notation()), ..Options::default() };
    let (csv, _) = folder.read_with("t.tsv", b"a\tb\n1\t1,234\n2\t12,345\n", &options).unwrap();
    assert_eq!(csv, "a,b\n1,1.234\n2,12.345\n");
}

#[test]
fn large_files_are_plain_by_their_parts() {
    let folder = Folder::new();
    let rows =
        |count: usize| (0..count).map(|row| format!("{row},{}.5,text\n", row % 97)).collect::<String>();
    let text = format!("a,b,c\n{}", rows(150_000));
    let check = |text: &[u8], expected: bool| {
        assert_eq!(is_plain(&folder.write("t.csv", text)).unwrap(), expected);
    };
    check(text.as_bytes(), true);
    check(&[text.as_bytes(), b"1,2.5,\xFC\n"].concat(), false);
    let middle = text.len() * 17 / 32;
    let line = middle + text[middle..].find('\n').unwrap() + 1;
    let within = |bytes: &[u8]| [&text.as_bytes()[..line], bytes, &text.as_bytes()[line..]].concat();
    check(&within("1,2.5,\u{fc}\n".as_bytes()), true);
    check(&within(b"1,2.5,\xFC\n"), false);
    check(format!("{text},,\n").as_bytes(), false);
    check(format!("{text}1,2\n").as_bytes(), false);
    check(text.replace(',', ";").as_bytes(), false);
    let comma = text.replace(".5,text", ",text").replace(",text", ",\"1,5\"");
    check(comma.as_bytes(), false);
}

#[test]
fn the_encoding_is_that_of_the_whole_file() {
    let folder = Folder::new();
    let text = format!("a,b\n{}1,\u{fc}\n", "1,x\n".repeat(100_000));
    let (csv, table) = folder.read("t.csv", text.as_bytes()).unwrap();
    assert_eq!((csv.as_str(), table.notation().encoding), (text.as_str(), Encoding::Utf8));
    let latin: Vec<u8> = text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect();
    let (csv, table) = folder.read("t.csv", &latin).unwrap();
    assert_eq!((csv.as_str(), table.notation().encoding), (text.as_str(), Encoding::Windows1252));
}

/// The table as text of a dialect: all cells with a delimiter or a quote are quoted.
fn dialect(delimiter: char, decimal: char, line_end: &str) -> String {
    let rows = [
        ["id", "größe", "note; | \"x\"", "n"],
        ["007", "1.5", "a,b;c|d", "1"],
        ["NA", "-12.25", "naïve \"quoted\"", "20"],
        ["2e4", "", "tab\there", "3"],
        ["x", "1234.5", "", "4"],
    ];
    let cell = |(at, text): (usize, &&str)| {
        let text = if at == 1 { text.replace('.', &decimal.to_string()) } else { (*text).to_owned() };
        let is_special = |letter: char| letter == delimiter || letter == '"';
        if text.contains(is_special) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
    };
    let line =
        |row: &[&str; 4]| row.iter().enumerate().map(cell).collect::<Vec<_>>().join(&delimiter.to_string());
    rows.iter().map(|row| line(row) + line_end).collect()
}

#[test]
fn all_dialects_encodings_and_line_ends_give_the_same_table() {
    let folder = Folder::new();
    let plain = dialect(',', '.', "\n");
    let bytes = |text: &str, encoding: Encoding| -> Vec<u8> {
        let units = || "\u{feff}".encode_utf16().chain(text.encode_utf16());
        match encoding {
            Encoding::Utf8 => text.into(),
            Encoding::Utf8Mark => format!("\u{feff}{text}").into(),
            Encoding::Utf16Le => units().flat_map(u16::to_le_bytes).collect(),
            Encoding::Utf16Be => units().flat_map(u16::to_be_bytes).collect(),
            Encoding::Windows1252 => {
                text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
            }
        }
    };
    let encodings =
        [Encoding::Utf8, Encoding::Utf8Mark, Encoding::Utf16Le, Encoding::Utf16Be, Encoding::Windows1252];
    for (delimiter, decimal) in [(',', '.'), (',', ','), (';', '.'), (';', ','), ('\t', ','), ('|', '.')] {
        for line_end in ["\n", "\r\n", "\r"] {
            for encoding in encodings {
                let text = dialect(delimiter, decimal, line_end);
                let (csv, table) = folder.read("t.csv", &bytes(&text, encoding)).unwrap();
                assert_eq!(csv, plain, "{delimiter:?} {decimal} {line_end:?} {encoding:?}");
                assert_eq!(
                    (table.notation().encoding, table.notation().delimiter),
                    (encoding, Some(delimiter))
                );
            }
        }
    }
}
