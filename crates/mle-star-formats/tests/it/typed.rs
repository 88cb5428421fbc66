//! Parquet, Arrow, Excel and JSON. `data/make.py` wrote the files.

use std::fs;
use std::io::Write;
use std::path::Path;

use mle_star_formats::{Format, Options, Packing, detect, tables_in};

use crate::files::Folder;

const TYPES: &str = r#"int8,uint64,gaps,float,whole,whole_gaps,single,bool,bool_gaps,text,digits,category,day,time,milli,zone,length,date,clock,decimal
1,0,1,0.1,1.0,1,0.1,True,True,NA,007,u,2024-01-31,2024-01-31 13:45:00,2024-01-31 13:45:00.500,2024-01-31 13:45:00+01:00,1 days 02:03:04,2024-01-31,01:02:03,1.50
-2,18446744073709551615,,1e-05,2.0,,,False,,,,,,2024-02-29 00:00:00,2024-02-29 00:00:00.000,2024-06-29 00:00:00+01:00,-1 days +23:59:59,,,
3,5,1152921504606846976,inf,3.0,3,2.5,True,False,"x, ""y""
z",12345678901234567890,v,1969-12-31,,1969-12-31 23:59:59.000,2000-01-01 00:00:00+01:00,,9999-12-31,23:59:59.000005,-0.05
"#;
const SHEET: &str = r#"int8,float,whole,bool,text,digits,day,time,milli,clock
1,0.1,1,True,NA,007,2024-01-31,2024-01-31 13:45:00,2024-01-31 13:45:00.500,01:02:03
-2,1e-05,2,False,,,,2024-02-29 00:00:00,2024-02-29 00:00:00.000,
3,inf,3,True,"x, ""y""
z",12345678901234567890,1969-12-31,,1969-12-31 23:59:59.000,23:59:59.000005
"#;

fn data(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

/// The CSV of a file with these bytes, or the message of its refusal.
fn csv(name: &str, bytes: &[u8]) -> Result<String, String> {
    Folder::new().read(name, bytes).map(|(csv, _)| csv)
}

#[test]
fn typed_files_become_canonical_text() {
    let check =
        |name: &str, expected: &str| assert_eq!(csv(name, &data(name)), Ok(expected.to_owned()), "{name}");
    check("types.parquet", TYPES);
    check("types.feather", TYPES);
    check("types.arrows", TYPES);
    check("types.xlsx", SHEET);
    check("index.parquet", "int8\n1\n-2\n3\n");
    // Its metadata names another number of rows than it has.
    check("endless.parquet", "int8\n1\n-2\n3\n");
    check("spark.parquet", "time\n9999-12-31 03:00:00\n2024-01-31 13:45:00\n");
    check("blank.xlsx", "id,amount\n1,2.5\n,\n2,3.0\n");
}

#[test]
fn sheets_are_chosen_by_name() {
    let sheet = |sheet| {
        let options = Options { sheet: Some(sheet), ..Options::default() };
        Folder::new().read_with("t.xlsx", &data("types.xlsx"), &options).map(|(csv, _)| csv)
    };
    let index = ",int8,text\n0,1,NA\n1,-2,\n2,3,\"x, \"\"y\"\"\nz\"\n";
    assert_eq!(sheet("index"), Ok(index.to_owned()));
    assert_eq!(sheet("Index"), Err("t.xlsx: the workbook has no sheet `Index`".to_owned()));
}

#[test]
fn json_objects_become_rows() {
    let check = |text: &str, expected: Result<&str, &str>| {
        let expected = expected.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
        assert_eq!(csv("t.jsonl", text.as_bytes()), expected, "{text}");
    };
    let rows = "a,b\n1,x\n,y\n";
    check("{\"a\": 1, \"b\": \"x\"}\n{\"b\": \"y\", \"a\": null}\n", Ok(rows));
    check("[{\"a\": 1, \"b\": \"x\"},\n {\"b\": \"y\"}]", Ok(rows));
    check(
        r#"{"id": 12345678901234567890, "f": 1.50, "g": 1e-7, "t": true, "l": ["x", {"y": 1}], "s": "NA"}"#,
        Ok("id,f,g,t,l,s\n12345678901234567890,1.5,1e-07,True,\"[\"\"x\"\",{\"\"y\"\":1}]\",NA\n"),
    );
    let utf16 = "\u{feff}{\"a\": 1}\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    assert_eq!(csv("t.json", &utf16), Ok("a\n1\n".to_owned()));
    check("{\"a\": 1}\n{\"b\": 2}\n{\"c\": 3, \"a\": 4}\n", Ok("a,b,c\n1,,\n,2,\n4,,3\n"));
    check("{\"a\": 1}\n{\"a\": }\n", Err("t.jsonl: line 2 is no row: expected value"));
    check("{\"a\": \"x\\u0000\"}\n", Err("t.jsonl: line 1 has a NUL character in `a`"));
    for columns in [r#"{"id":{"0":1,"1":2},"x":{"0":3,"1":4}}"#, r#"{"id":[1,2],"x":[3,4]}"#] {
        check(columns, Err("t.jsonl: it holds one object of lists or objects, not rows"));
    }
    check("{\"a\": \"1\\u202f234,5\"}\n{\"a\": \"2\"}\n", Ok("a\n1234.5\n2\n"));
}

#[test]
fn workbooks_and_nested_columns_that_are_no_tables_are_refused() {
    let check = |name: &str, message: &str| {
        assert_eq!(csv(name, &data(name)), Err(format!("{name}: {message}")));
    };
    check("title.xlsx", "the cell B3 has no column name: the header has only A1 (`Sales of 2024`)");
    check("merged.xlsx", "the cells A2:A3 of the sheet `Sheet` are merged");
    check("formula.xlsx", "the formula of the cell B2 has no value");
    check("empty.xlsx", "the sheet `Sheet` is empty");
    check("nested.parquet", "the column `list` holds lists");
    check("large.parquet", "the cells of column `text` have more than a megabyte each");
    check("large.feather", "the cells of a column have more than a megabyte each");
    check("arrow-0.17.feather", "the file was written by Arrow 0.17, whose compression is not read");
}

#[test]
fn numbers_that_are_text_are_read_as_in_csv() {
    let csv = "id,part,miles,share,code\n1,0.25,12345,1234,1.234\n2,1.5,999,n/a,5\n";
    let json = r#"{"id":1,"part":0.25,"miles":"12,345","share":"1 234","code":"1.234"}
{"id":2,"part":1.5,"miles":"999","share":"n/a","code":"5"}"#;
    let files =
        [("t.parquet", data("texts.parquet")), ("t.xlsx", data("texts.xlsx")), ("t.jsonl", json.into())];
    for (name, bytes) in files {
        let (found, table) = Folder::new().read(name, &bytes).unwrap();
        let notes = [
            "the numbers of `miles` have `,` between thousands: 12,345",
            "the numbers of `share` have ` ` between thousands: 1 234",
        ];
        assert_eq!((found.as_str(), table.notes()), (csv, notes.map(str::to_owned).to_vec()), "{name}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in members {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(bytes).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn all_formats_may_be_packed() {
    let jsonl = b"{\"a\":1}\n".as_slice();
    let files = [
        ("t.csv", b"a;b\n1;2\n".to_vec(), "a,b\n1,2\n"),
        ("t.parquet", data("types.parquet"), TYPES),
        ("t.feather", data("types.feather"), TYPES),
        ("t.arrows", data("types.arrows"), TYPES),
        ("t.xlsx", data("types.xlsx"), SHEET),
        ("t.jsonl", jsonl.to_vec(), "a\n1\n"),
    ];
    for (name, bytes, expected) in files {
        let other = zip(&[("__MACOSX/._t", b"x"), ("deep/", b""), (&format!("deep/{name}"), &bytes)]);
        let packed = [
            (format!("{name}.gz"), gzip(&bytes)),
            (format!("{name}.gz"), [gzip(&bytes[..4]), gzip(&bytes[4..])].concat()),
            (format!("{name}.zst"), zstd::encode_all(bytes.as_slice(), 3).unwrap()),
            (format!("{name}.zip"), other.clone()),
            ("t.zip".to_owned(), other),
        ];
        for (name, bytes) in packed {
            assert_eq!(csv(&name, &bytes).as_deref(), Ok(expected), "{name}");
        }
    }
    // The name says nothing about the packing.
    assert_eq!(csv("t.csv", &zip(&[("t.csv", b"a\n1\n")])).as_deref(), Ok("a\n1\n"));
    assert_eq!(csv("t.csv.gz", b"a\n1\n").as_deref(), Ok("a\n1\n"));
}

#[test]
fn archives_that_hold_no_table_are_refused() {
    let check = |name: &str, bytes: &[u8], message: &str| {
        assert_eq!(csv(name, bytes), Err(format!("{name}: {message}")));
    };
    let two = zip(&[("a.csv", b"x\n"), ("notes.md", b"x"), ("b.csv", b"x\n")]);
    check("t.zip", &two, "the archive holds 2 tables, `a.csv` and `b.csv` among them");
    let folder = Folder::new();
    assert_eq!(tables_in(&folder.write("t.zip", &two)), ["a.csv", "b.csv"]);
    assert_eq!(tables_in(&folder.write("t.xlsx", &data("types.xlsx"))), [""; 0]);
    let described = zip(&[("a.csv", b"x\n1\n"), ("readme.txt", b"x"), ("about.json", b"{}")]);
    assert_eq!(csv("t.zip", &described).as_deref(), Ok("x\n1\n"));
    check("t.zip", &zip(&[]), "the archive holds no table");
    check("t.zip", &zip(&[("a.md", b"x"), ("b.png", b"x")]), "the archive holds no table");
    check("t.csv.gz", &gzip(b""), "the file is empty");
}

#[test]
fn files_are_detected_by_content_and_name() {
    let folder = Folder::new();
    let check = |name: &str, bytes: &[u8], format: Format, packing: Packing| {
        let found = detect(&folder.write(name, bytes)).unwrap();
        assert_eq!((found.format, found.packing), (format, packing), "{name}");
    };
    check("t", &data("types.parquet"), Format::Parquet, Packing::None);
    check("t.ipc", &data("types.arrows"), Format::ArrowStream, Packing::None);
    check("T.CSV", b"{a}\n", Format::Delimited, Packing::None);
    check("t", b" {\"a\": 1}\n", Format::JsonLines, Packing::None);
    check("t.zip", &zip(&[("x.tsv", b"a\n")]), Format::Delimited, Packing::Zip("x.tsv".to_owned()));
}

#[test]
fn damaged_files_are_errors() {
    // Every file, cut off at every place: an error in one line, or a table.
    let folder = Folder::new();
    for name in ["types.parquet", "types.feather", "types.arrows", "types.xlsx"] {
        let bytes = data(name);
        for length in (0..bytes.len()).step_by(97) {
            if let Err(message) = folder.read(name, &bytes[..length]) {
                assert!(!message.contains('\n') && !message.is_empty(), "{name} {length}: {message}");
            } else {
                assert_eq!(name, "types.arrows", "{length}");
            }
        }
    }
}
