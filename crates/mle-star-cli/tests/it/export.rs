//! A finished run as a notebook.

use std::process::Command;

use mle_star_needs::needs;
use serde_json::Value;

use crate::predict::finished;
use crate::recorded::copied;
use crate::runs::interpreter;

#[test]
fn the_notebook_of_a_run_makes_its_submission() {
    needs!(Libraries);
    let sealed = finished();
    let said = sealed.run("export r --notebook r.ipynb");
    assert_eq!((said.code, said.stderr.trim()), (0, "wrote r.ipynb"), "{said:?}");
    let notebook: Value = serde_json::from_str(&sealed.read("r.ipynb")).unwrap();
    let cells = notebook["cells"].as_array().unwrap();
    let text = |cell: &Value| {
        cell["source"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect::<String>()
    };
    let headings = cells.iter().filter(|cell| cell["cell_type"] == "markdown").map(text);
    assert!(headings.filter(|heading| heading.starts_with('#')).count() > 3, "{notebook}");
    // Each cell runs in the names of those before it, as a kernel runs it.
    let before = sealed.read("runs/r/final/submission.csv");
    let program = "import json, sys\nnames = {\"__name__\": \"__main__\"}\nfor cell in json.load(open(sys.argv[1]))[\"cells\"]:\n    \
                   if cell[\"cell_type\"] == \"code\":\n        exec(\"\".join(cell[\"source\"]), names)\n";
    let run = |folder: &str| {
        let mut python = Command::new(interpreter());
        let done = python
            .args(["-c", program])
            .arg(sealed.path("r.ipynb"))
            .current_dir(sealed.path(folder))
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap()
    };
    let printed = run(".");
    let made = printed.lines().next().unwrap().strip_prefix("Predictions are written to ").unwrap();
    assert!(!made.starts_with(sealed.path("").to_str().unwrap()), "{made}");
    // Another number of threads may add up in another order.
    let rounded = |text: &str| -> Vec<String> {
        let cell = |cell: &str| cell.parse::<f64>().map_or_else(|_| cell.to_owned(), |it| format!("{it:.6}"));
        text.split([',', '\n']).map(cell).collect()
    };
    assert_eq!(rounded(&std::fs::read_to_string(made).unwrap()), rounded(&before));
    // Beside a folder of data.
    for name in ["train.csv", "test.csv", "sample_submission.csv"] {
        sealed.write(&format!("elsewhere/input/{name}"), sealed.read(&format!("data/{name}")).as_bytes());
    }
    sealed.write("elsewhere/input/folds.csv", sealed.read("runs/r/final/folds.csv").as_bytes());
    run("elsewhere");
    assert_eq!(rounded(&sealed.read("elsewhere/final/submission.csv")), rounded(&before));
    assert_eq!(rounded(&sealed.read("runs/r/final/submission.csv")), rounded(&before));
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let sealed = copied();
    sealed.write("a.ipynb", b"mine");
    let check = |line: &str, code: i32, words: &str| {
        let said = sealed.run(line);
        assert!(said.code == code && said.stderr.contains(words), "{line}: {said:?}");
    };
    check("export recorded/flight-delays", 2, "--notebook");
    check("export recorded/flight-delays --notebook a.ipynb", 2, "a.ipynb exists");
    check("export recorded/flight-delays --notebook no/a.ipynb", 2, "cannot write no/a.ipynb");
    check("export nothing --notebook x.ipynb", 2, "nothing");
    assert_eq!(sealed.read("a.ipynb"), "mine");
    check("export recorded/flight-delays --notebook a.ipynb --force", 0, "wrote a.ipynb");
    let printed = sealed.run("export recorded/flight-delays --notebook /dev/stdout --force");
    assert!(printed.code == 0 && printed.stdout.contains("ROC-AUC: "), "{printed:?}");
    assert!(std::fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
    std::fs::remove_file(sealed.path("recorded/flight-delays/result.json")).unwrap();
    check("export recorded/flight-delays --notebook x.ipynb", 2, "has no result yet");
}
