//! The findings about submissions.

use std::fs::{self, File};

use mle_star_backends::script::submission::check_submission;

const SAMPLE: &str = "id,delayed\n1,0.5\n2,0.5\n3,0.5\n4,0.5\n";

#[derive(Clone, Copy)]
struct Case<'a> {
    sample: Option<&'a str>,
    id_column: Option<&'a str>,
    submission: &'a [u8],
}

/// Each finding must contain the expected text at its position, and there are no others.
fn check(case: Case<'_>, rows: Option<u64>, expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let (file, sample) = (folder.path().join("submission.csv"), folder.path().join("sample.csv"));
    fs::write(&file, case.submission).unwrap();
    if let Some(text) = case.sample {
        fs::write(&sample, text).unwrap();
    }
    let checked = check_submission(&file, case.sample.map(|_| sample.as_path()), case.id_column);
    let text = String::from_utf8_lossy(case.submission);
    assert_eq!(checked.rows, rows, "{text}: {:?}", checked.findings);
    assert_eq!(checked.bytes, case.submission.len() as u64, "{text}");
    assert_eq!(checked.findings.len(), expected.len(), "{text}: {:?}", checked.findings);
    for (finding, part) in checked.findings.iter().zip(expected) {
        assert!(finding.contains(part), "{text}: {finding:?} does not say {part:?}");
    }
}

fn against(sample: &str, submission: &str, rows: Option<u64>, expected: &[&str]) {
    check(Case { sample: Some(sample), id_column: None, submission: submission.as_bytes() }, rows, expected);
}

#[test]
fn without_a_sample_it_must_parse_and_have_a_row() {
    let check = |submission: &[u8], rows, expected: &[&str]| {
        check(Case { sample: None, id_column: None, submission }, rows, expected);
    };
    check(b"id,y\n1,0\n2,\n", Some(2), &[]);
    check(b"id,y\n", Some(0), &["no data row"]);
    check(b"", None, &["the file is empty"]);
    check(b"id,y\n1,2,3\n", None, &["row 1 has 3 fields, the header has 2"]);
    check(b"id,y\n1,\xFF\xFE\n", None, &["row 1 is not UTF-8"]);
}

#[test]
fn what_equals_the_sample_in_form_is_valid() {
    let check = |submission| against(SAMPLE, submission, Some(4), &[]);
    check("id,delayed\n1,0.1\n2,0\n3,1e-3\n4,-7\n");
    check("id,delayed\r\n1,0.1\r\n2,0\r\n3,1\r\n4,2\r\n");
    check("\u{FEFF}id,delayed\n1,0.1\n2,0\n3,1\n4,2");
    check("\"id\",\"delayed\"\n\"1\",\"0.1\"\n2,0\n3,1\n4, 2\n");
}

#[test]
fn every_difference_is_a_finding() {
    let check = |submission: &str, rows, expected: &[&str]| against(SAMPLE, submission, Some(rows), expected);
    check(
        "id,y\n1,0\n2,0\n3,0\n4,0\n",
        4,
        &["column `delayed` is missing", "column `y` is not in the sample"],
    );
    check("delayed,id\n0,1\n0,2\n0,3\n0,4\n", 4, &["from column 1 on: `delayed` instead of `id`"]);
    check(",id,delayed\n0,1,0\n1,2,0\n2,3,0\n3,4,0\n", 4, &["index=False"]);
    check(
        "id,delayed\n1,0\n2,0\n",
        2,
        &[
            "2 data rows; the sample submission has 4",
            "`id`: 2 ids of the sample are missing, first `3`, `4`",
        ],
    );
    check("id,delayed\n", 0, &["no data row", "0 data rows", "4 ids of the sample are missing"]);
    check(
        "id,delayed\n1,0\n2,0\n3,0\n4,0\n5,0\n",
        5,
        &["5 data rows", "`id`: 1 ids are not in the sample, first `5` in row 5"],
    );
    check(
        "id,delayed\n1,0\n2,0\n2,0\n4,0\n",
        4,
        &["1 ids of the sample are missing, first `3`", "1 ids are repeated, first `2` in row 3"],
    );
    check(
        "id,delayed\n1,0\n3,0\n2,0\n4,0\n",
        4,
        &["another order than the sample's from row 2 on: `3` instead of `2`"],
    );
    check(
        "id,delayed\n1,\n2,NaN\n3,None\n4,nan\n",
        4,
        &["`delayed`: 4 values are missing, first row 1, row 2, row 3"],
    );
    check(
        "id,delayed\n1,inf\n2,True\n3,0\n4,1\n",
        4,
        &["2 values are not finite numbers, first `inf` in row 1, `True`"],
    );
    // What is quoted is short.
    let (long, short) = ("ä".repeat(500_000), format!("`{}...` (500000 characters)", "ä".repeat(100)));
    check(&format!("id,delayed\n1,{long}\n2,0\n3,0\n4,0\n"), 4, &[&format!("first {short} in row 1")]);
    against(SAMPLE, "id,delayed\n1,0\n2,0,0\n", None, &["row 2 has 3 fields"]);
    against("", SAMPLE, None, &["the sample submission: the file is empty"]);
}

#[test]
fn the_sample_says_what_a_column_may_hold() {
    let check = |sample, submission, expected: &[&str]| against(sample, submission, Some(2), expected);
    // Texts stay texts; `None` is a label there, an empty cell is not.
    check("id,label\na,cat\nb,None\n", "id,label\na,None\nb,dog\n", &[]);
    check(
        "id,label\na,cat\nb,dog\n",
        "id,label\na,None\nb,\n",
        &["`label`: 1 values are missing, first row 2"],
    );
    // If the sample has empty cells, the submission may have them too.
    check("id,pixels\na,\nb,1 2\n", "id,pixels\na,3 4\nb,\n", &[]);
    // Several numeric columns, each with its own finding.
    check(
        "id,a,b\n1,0,0\n2,0,0\n",
        "id,a,b\n1,x,0\n2,0,\n",
        &["`a`: 1 values are not finite", "`b`: 1 values are missing"],
    );
    // Without IDs, there is no order to check.
    check("a,b\n0,0\n0,0\n", "a,b\n1,2\n3,4\n", &[]);
    // Rows may share an ID.
    check("id,y\n1,0\n1,0\n", "id,y\n1,2\n1,3\n", &[]);
}

#[test]
fn the_id_column_can_be_named() {
    let case = |submission| Case { sample: Some("y,row\n0,1\n0,2\n"), id_column: Some("row"), submission };
    check(case(b"y,row\n5,1\n6,2\n"), Some(2), &[]);
    check(case(b"y,row\n5,2\n6,1\n"), Some(2), &["column `row`: the ids are in another order"]);
}

/// Extended to `grown_to` bytes with a hole, which takes no disk space.
fn grown(text: &str, grown_to: u64, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (file, sample) = (folder.path().join("submission.csv"), folder.path().join("sample.csv"));
    fs::write(&sample, SAMPLE).unwrap();
    fs::write(&file, text).unwrap();
    File::options().write(true).open(&file).unwrap().set_len(grown_to).unwrap();
    let checked = check_submission(&file, Some(&sample), None);
    assert_eq!((checked.bytes, checked.rows), (grown_to, None));
    assert_eq!(checked.findings, [expected]);
}

#[test]
fn what_is_too_large_is_refused_without_taking_memory() {
    grown(SAMPLE, 3 << 29, "the file has 1536 MiB; a submission has at most 1024 MiB");
    grown("", 1 << 30, "the header is longer than 1 MiB");
    grown("id,delayed\n1,0\n2,\"", 1 << 30, "row 2 is longer than 16 MiB");
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB"));
    let most: u64 = most.map_or(0, |kib| kib.trim().parse().unwrap());
    assert!(most < 256 << 10, "it took {most} KiB");
}
