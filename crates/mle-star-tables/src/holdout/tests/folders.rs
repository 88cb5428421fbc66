//! The folder that scripts see, the labels and the original rows of a submission.

use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;

struct View {
    _data: tempfile::TempDir,
    into: tempfile::TempDir,
    plan: Plan,
}

/// The folder that scripts see and the labels.
fn view(files: &[File], split: &Split) -> View {
    let (data, into) = (folder(files), tempfile::tempdir().unwrap());
    let plan = planned(data.path(), split, FIFTH, 1).unwrap();
    let profile = profile::read(data.path()).unwrap();
    for _ in 0..2 {
        write(&profile, &plan, &into.path().join("data")).unwrap();
        labels(&profile, &plan, &into.path().join("labels.csv")).unwrap();
    }
    View { _data: data, into, plan }
}

impl View {
    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.into.path().join(name)).unwrap()
    }

    /// The first cells of a table's rows.
    fn ids(&self, name: &str) -> Vec<String> {
        let text = self.text(name);
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    }
}

fn gzipped(text: &str) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// Training rows with labels that occur nowhere else, and with a column that test rows lack.
fn with_own_labels() -> Vec<File> {
    let mut files = files();
    let cells = |n: usize| format!("{n},0.{n},g{},{}", n / 5, n / 2);
    files[0] = table("train.csv", "id,x,y,g,day,later", 0..100, |n| {
        let (cells, label) = (cells(n), 9_000 + n);
        let (before, after) = cells.split_at(cells.find(",g").unwrap());
        format!("{before},{label}{after},{}", label * 2)
    });
    files
}

#[test]
fn held_out_rows_move_to_the_test_table_without_labels() {
    for (kind, column) in
        [(SplitKind::Rows, None), (SplitKind::Groups, Some("g")), (SplitKind::Time, Some("day"))]
    {
        let view = view(&with_own_labels(), &split(kind, column));
        let held: Vec<String> = held(&view.plan).iter().map(ToString::to_string).collect();
        let [train, test, sample] =
            ["train", "test", "sample_submission"].map(|name| view.ids(&format!("data/{name}.csv")));
        let kept: Vec<String> = (0..100).map(|n| n.to_string()).filter(|id| !held.contains(id)).collect();
        assert_eq!(train, kept, "{kind:?}");
        assert_eq!((test.len(), &test), (60, &sample), "{kind:?}");
        let moved: Vec<String> = test.iter().filter(|id| held.contains(id)).cloned().collect();
        let own: Vec<String> = test.iter().filter(|id| !held.contains(id)).cloned().collect();
        assert_eq!((moved, own.first()), (held.clone(), Some(&"100".to_owned())), "{kind:?}");
        assert_eq!(test[..20] == held, kind == SplitKind::Time, "{kind:?}");
        assert_eq!(view.ids("labels.csv"), held);

        let labels = view.text("labels.csv");
        // The column of the split says which rows depend on each other.
        assert_eq!(
            labels.lines().next().unwrap(),
            ["id", "y"].into_iter().chain(column).collect::<Vec<_>>().join(",")
        );
        for line in labels.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            let (id, label) = (cells[0], cells[1]);
            let number = id.parse::<usize>().unwrap();
            let part =
                column.map(
                    |column| {
                        if column == "g" { format!("g{}", number / 5) } else { (number / 2).to_string() }
                    },
                );
            assert_eq!(cells.get(2).map(|part| (*part).to_owned()), part, "{kind:?}");
            assert_eq!(label, (9_000 + id.parse::<usize>().unwrap()).to_string());
            let later = (label.parse::<usize>().unwrap() * 2).to_string();
            for file in fs::read_dir(view.into.path().join("data")).unwrap() {
                let text = fs::read_to_string(file.unwrap().path()).unwrap();
                assert!(!text.contains(label) && !text.contains(&later), "{kind:?} {id}");
            }
        }
        let row = format!(
            "\n{0},0.{0},g{1},{2}\n",
            held[0],
            held[0].parse::<usize>().unwrap() / 5,
            held[0].parse::<usize>().unwrap() / 2
        );
        assert!(view.text("data/test.csv").contains(&row), "{row}");
        assert!(view.text("data/sample_submission.csv").lines().skip(1).all(|line| line.ends_with(",cat")));
    }
}

#[test]
fn only_this_user_may_read_the_labels() {
    let view = view(&files(), &split(SplitKind::Rows, None));
    let mode = fs::metadata(view.into.path().join("labels.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn rows_are_copied_as_they_are() {
    for (line_end, mark) in [("\n", ""), ("\r\n", "\u{feff}")] {
        let cells = |n: usize| format!("\"{n}\",1.50{n},\"a,\n\"\"{n}\"\"\",  {n}");
        let mut files = vec![
            table("train.csv", "id,x,g,day,y", 0..100, |n| format!("{},0{n}", cells(n))),
            table("test.csv", "y,day,id,x,g", 100..140, |n| format!(",  {n},\"{n}\",01.0,\"q\"")),
            table("sample_submission.csv", "id,dog,cat", 100..140, |n| format!("{n},0.50,{}", n % 2)),
        ];
        files.iter_mut().for_each(|(_, text)| *text = format!("{mark}{}", text.replace('\n', line_end)));
        let view = view(&files, &split(SplitKind::Rows, None));
        let rows = held(&view.plan);
        let ended = |text: String| text.replace('\n', line_end);
        let expected = table("", &format!("{mark}id,x,g,day,y"), 0..100, |n| format!("{},0{n}", cells(n))).1;
        let mut expected = ended(expected);
        for row in &rows {
            expected = expected.replace(&ended(format!("{},0{row}\n", cells(*row as usize))), "");
        }
        assert_eq!(view.text("data/train.csv"), expected);
        let test = view.text("data/test.csv");
        assert!(test.starts_with(&ended(format!("{mark}y,day,id,x,g\n"))), "{test}");
        for n in 100..140 {
            assert!(test.contains(&ended(format!("\n,  {n},\"{n}\",01.0,\"q\"\n"))), "{test}");
        }
        for n in rows {
            assert!(test.contains(&ended(format!("\n,  {n},{n},1.50{n},\"a,\n\"\"{n}\"\"\"\n"))), "{test}");
        }
        let sample = view.text("data/sample_submission.csv");
        assert_eq!(
            sample.matches(&ended(",0.50,1\n".to_owned())).count()
                + sample.matches(&ended(",0.50,0\n".to_owned())).count(),
            60
        );
    }
}

#[test]
fn other_files_are_linked_and_copies_left_out() {
    let mut all = files();
    let train = all[0].1.clone();
    all.push(("images/1.png", "png".to_owned()));
    all.push(("stores.csv", "g,town\ng1,a\n".to_owned()));
    let (data, into) = (folder(&all), tempfile::tempdir().unwrap());
    // A copy of the same table is no secret, and scripts do not see it.
    let mut archive = ZipWriter::new(fs::File::create(data.path().join("train.zip")).unwrap());
    archive.start_file("train.csv", SimpleFileOptions::default()).unwrap();
    archive.write_all(train.as_bytes()).unwrap();
    archive.finish().unwrap();
    fs::write(data.path().join("train.csv.gz"), gzipped(&train)).unwrap();

    let plan = planned(data.path(), &split(SplitKind::Rows, None), FIFTH, 1).unwrap();
    let into = into.path().join("data");
    write(&profile::read(data.path()).unwrap(), &plan, &into).unwrap();
    let entries = fs::read_dir(&into).unwrap().map(|entry| entry.unwrap());
    let found: BTreeSet<(String, bool)> = entries
        .map(|entry| (entry.file_name().into_string().unwrap(), entry.file_type().unwrap().is_symlink()))
        .collect();
    let expected = [
        ("images", true),
        ("sample_submission.csv", false),
        ("stores.csv", true),
        ("test.csv", false),
        ("train.csv", false),
    ];
    assert_eq!(found, expected.map(|(name, is_link)| (name.to_owned(), is_link)).into());
    assert_eq!(fs::read_to_string(into.join("images/1.png")).unwrap(), "png");
    let rows = |name: &str| fs::read_to_string(into.join(name)).unwrap().lines().count() - 1;
    assert_eq!((rows("train.csv"), rows("test.csv")), (80, 60));
}

#[test]
fn another_name_of_the_training_table_is_found() {
    let check = |name: &str, make: fn(&Path, &Path) -> std::io::Result<()>| {
        let data = folder(&files());
        let other = data.path().join(name);
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        make(&data.path().join("train.csv"), &other).unwrap();
        let Off(why) = planned(data.path(), &split(SplitKind::Rows, None), FIFTH, 1).unwrap_err();
        assert_eq!(why, format!("{name} is another name of train.csv"));
    };
    check("alias.dat", |train, name| std::os::unix::fs::symlink(train, name));
    check("old/first.bin", |train, name| fs::hard_link(train, name));
}

#[test]
fn a_submission_is_trimmed_to_the_original_rows_in_their_order() {
    let check = |given: &str, asked: &str, expected: Result<&str, &str>| {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::write(path("given.csv"), given).unwrap();
        fs::write(path("asked.csv"), asked).unwrap();
        let trimmed = trim(&path("given.csv"), &path("asked.csv"), "id", &path("into.csv"));
        match (trimmed, expected) {
            (Ok(()), Ok(expected)) => assert_eq!(fs::read_to_string(path("into.csv")).unwrap(), expected),
            (Err(trouble), Err(part)) => {
                assert!(trouble.message.contains(part), "{trouble}");
                assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
            }
            (found, _) => panic!("{found:?} {given}"),
        }
    };
    let asked = "id,y\n5,0\n6,0\n4,0\n";
    check("id,y\n1,0.10\n5,\"a\nb\"\n2,3\n6,0.5\n4,1\n", asked, Ok("id,y\n5,\"a\nb\"\n6,0.5\n4,1\n"));
    check("y,id\r\n1,4\r\n2,1\r\n\"3\",5\r\n4,6", asked, Ok("y,id\r\n\"3\",5\r\n4,6\r\n1,4\r\n"));
    check(" id , y\n 5 ,1\n6.0,2\n4,3\n", asked, Ok(" id , y\n 5 ,1\n6.0,2\n4,3\n"));
    check(" id,y,id\n1,1,5\n2,2,6\n3,3,4\n", asked, Ok(" id,y,id\n1,1,5\n2,2,6\n3,3,4\n"));
    check("id,y\n4,1\n5,2\n6,3\n", asked, Ok("id,y\n5,2\n6,3\n4,1\n"));
    check("id,y\n4,1\n5,2\n", asked, Err("it has no row with id 6"));
    check("key,y\n4,1\n", asked, Err("it has no column \"id\""));
}
