//! A finished run as a notebook and a model card.

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
    assert_eq!(std::fs::read_to_string(made).unwrap(), before);
    // Beside a folder of data.
    for name in ["train.csv", "test.csv", "sample_submission.csv"] {
        sealed.write(&format!("elsewhere/input/{name}"), sealed.read(&format!("data/{name}")).as_bytes());
    }
    sealed.write("elsewhere/input/folds.csv", sealed.read("runs/r/final/folds.csv").as_bytes());
    run("elsewhere");
    assert_eq!(sealed.read("elsewhere/final/submission.csv"), before);
    assert_eq!(sealed.read("runs/r/final/submission.csv"), before);
}

#[test]
fn the_card_says_what_the_run_says() {
    let sealed = copied();
    let said = sealed.run("export recorded/flight-delays --model-card CARD.md --notebook a.ipynb");
    assert_eq!(said.code, 0, "{said:?}");
    let card = sealed.read("CARD.md");
    let said = sealed.run("export recorded/flight-delays --model-card /dev/stdout");
    assert!(said.code == 0 && said.stdout.starts_with(&card), "{said:?}");
    let trust =
        &serde_json::from_str::<Value>(&sealed.read("recorded/flight-delays/result.json")).unwrap()["trust"];
    let held_out = format!("{:.5} held out", trust["holdout_score"].as_f64().unwrap());
    for words in
        ["# flight-delays", "`delayed`", "ROC-AUC (higher is better)", &held_out, "## Limits", "Versions: "]
    {
        assert!(card.contains(words), "{words}: {card}");
    }
    assert!(sealed.read("a.ipynb").contains("ROC-AUC: "));
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let sealed = copied();
    sealed.write("CARD.md", b"mine");
    let check = |line: &str, code: i32, words: &str| {
        let said = sealed.run(line);
        assert!(said.code == code && said.stderr.contains(words), "{line}: {said:?}");
    };
    check("export recorded/flight-delays", 2, "--notebook");
    check("export recorded/flight-delays --model-card CARD.md", 2, "CARD.md exists");
    check("export recorded/flight-delays --model-card no/CARD.md", 2, "cannot write no/CARD.md");
    check("export nothing --model-card x.md", 2, "nothing");
    assert_eq!(sealed.read("CARD.md"), "mine");
    check("export recorded/flight-delays --model-card CARD.md --force", 0, "wrote CARD.md");
    let printed = sealed.run("export recorded/flight-delays --model-card /dev/stdout --force");
    assert!(printed.code == 0 && printed.stdout.starts_with("# flight-delays"), "{printed:?}");
    assert!(std::fs::symlink_metadata("/dev/stdout").unwrap().is_symlink());
    std::fs::remove_file(sealed.path("recorded/flight-delays/result.json")).unwrap();
    check("export recorded/flight-delays --model-card x.md", 2, "has no result yet");
}
