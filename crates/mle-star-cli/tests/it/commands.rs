//! Commands that need no Python.

use std::fs;

use mle_star::journal::{Journal, hold};
use mle_star::testing::frozen;

use crate::sealed::Sealed;

#[test]
fn init_writes_a_task_file_that_run_understands() {
    let sealed = Sealed::with(&[]);
    let said = sealed.run("init data");
    assert_eq!((said.code, said.stdout.as_str()), (0, "data/task.yaml\n"), "{said:?}");
    let text = sealed.read("data/task.yaml");
    for line in
        ["target_column: price", "id_column: id", "evaluation_metric: RMSE", "metric_direction: minimize"]
    {
        let above = text.lines().zip(text.lines().skip(1)).find(|(_, below)| *below == line);
        assert!(above.is_some_and(|(reason, _)| reason.starts_with("# ")), "{line} in {text}");
    }
    let again = sealed.run("init data");
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("already exists"), "{again:?}");
    // The file is read before the interpreter is looked for.
    let run = sealed.run("run data --set python=/no/such/python");
    assert!(run.stderr.contains("(data/task.yaml)") && run.stderr.contains("/no/such/python"), "{run:?}");
}

#[test]
fn a_run_that_is_named_twice_is_deleted_once() {
    let files = ["a", "b"].map(|run| [format!("runs/{run}/task.json"), format!("runs/{run}/journal.lock")]);
    let files: Vec<(&str, &str)> = files.iter().flatten().map(|name| (name.as_str(), "{}")).collect();
    let sealed = Sealed::with(&files);
    let said = sealed.run("delete a runs/a --yes");
    assert_eq!((said.code, sealed.names("runs")), (0, vec!["b".to_owned()]), "{said:?}");
    let mut command = sealed.command("delete . --yes");
    assert!(command.current_dir(sealed.path("runs/b")).status().unwrap().success());
    assert_eq!(sealed.names("runs"), Vec::<String>::new());
}

#[test]
fn templates_are_exported_once_and_taken_back() {
    let sealed = Sealed::with(&[]);
    assert_eq!(sealed.run("prompts export mine").code, 0);
    assert!(sealed.names("mine").contains(&"coder.md".to_owned()));
    assert_eq!(sealed.run("prompts export mine").code, 2);
    assert_eq!(sealed.run("prompts export of-paper --paper").code, 0);
    assert!(!sealed.names("of-paper").contains(&"lessons.md".to_owned()));
    let run = sealed.run("run data --prompts mine --set python=/no/such/python");
    assert!(run.stderr.contains("/no/such/python"), "{run:?}");
}

#[test]
fn doctor_answers_with_names_of_credentials_and_no_values() {
    let sealed = Sealed::with(&[]);
    let said = sealed.run_with("doctor --json", &[("ANTHROPIC_API_KEY", "very-secret")]);
    assert_eq!(said.code, 0, "{said:?}");
    let found: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(found["credentials"], serde_json::json!(["ANTHROPIC_API_KEY"]));
    assert!(found["machine"]["cores"].as_u64().unwrap() > 0);
    assert!(!said.stdout.contains("very-secret"));
    let layers = found["isolation"].as_array().unwrap();
    let known = |layer: &serde_json::Value| layer["enforced"].is_boolean() && layer["detail"].is_string();
    assert!(layers.len() > 5 && layers.iter().all(known), "{layers:?}");
    let watched = |layer: &serde_json::Value| layer["name"] == "memory watch" && layer["enforced"] == true;
    assert!(layers.iter().any(watched), "{layers:?}");
    let stdout = sealed.run("doctor").stdout;
    let has_line = |name: &str| {
        stdout.lines().any(|line| line.trim_start_matches("isolation:").trim_start().starts_with(name))
    };
    let has_its_line = |layer: &serde_json::Value| layer["name"].as_str().is_some_and(has_line);
    assert!(layers.iter().all(has_its_line), "{stdout}");
}

#[test]
fn the_sources_of_a_run_are_shown_first() {
    let sealed = Sealed::with(&[("data/config.yaml", "model: opus\n")]);
    let said = sealed.run("run data --set python=/no/such/python");
    for part in ["agents: offline (", " (data); target: price (", "metric: RMSE (from "] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
}

#[test]
fn lists_are_empty_and_unreadable_runs_are_left_out() {
    let sealed = Sealed::with(&[]);
    assert_eq!(sealed.run("list --json").stdout, "[]\n");
    fs::create_dir_all(sealed.path("runs/odd")).unwrap();
    fs::write(sealed.path("runs/odd/journal.db"), "no database").unwrap();
    let said = sealed.run("list --json");
    assert_eq!((said.code, said.stdout.as_str()), (0, "[]\n"));
    assert!(said.stderr.contains("runs/odd"), "{said:?}");
    let said = sealed.run("show odd");
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("error: ") && said.stderr.contains("hint: "), "{said:?}");
}

#[test]
fn runs_of_a_task_and_metric_stand_together() {
    let sealed = Sealed::with(&[]);
    let run = |id: &str, task: &str, metric: &str| {
        let mut frozen = frozen();
        frozen.run_id = id.to_owned();
        (frozen.task.competition_id, frozen.task.evaluation_metric) = (task.to_owned(), metric.to_owned());
        fs::create_dir_all(sealed.path("runs").join(id)).unwrap();
        drop(Journal::create_in(hold(&sealed.path("runs").join(id)).unwrap(), &frozen).unwrap());
    };
    let runs = [
        ("a", "houses", "RMSE"),
        ("b", "flights", "ROC-AUC"),
        ("c", "houses", "MAE"),
        ("d", "houses", "RMSE"),
    ];
    for (id, task, metric) in runs {
        run(id, task, metric);
    }
    let said = sealed.run("list");
    let shown: Vec<String> = said
        .stdout
        .lines()
        .map(|line| line.split_whitespace().take(4).collect::<Vec<_>>().join(" "))
        .collect();
    let rows = [
        "b flights unfinished ROC-AUC",
        "c houses unfinished MAE",
        "a houses unfinished RMSE",
        "d houses unfinished RMSE",
    ];
    assert_eq!(
        (said.code, &shown[0], &shown[1..]),
        (0, &"RUN TASK STATE METRIC".to_owned(), &rows.map(str::to_owned)[..]),
        "{said:?}"
    );
}

#[test]
fn no_text_of_others_acts_on_the_terminal() {
    const EVIL: &str = "\u{1b}]0;t\u{7}\u{9b}2J\u{202e}x";
    const NAMED: &str = "⟨U+001B⟩]0;t⟨U+0007⟩⟨U+009B⟩2J⟨U+202E⟩x";
    let sealed = Sealed::with(&[]);
    // A run whose inputs were replaced, and one that cannot be read.
    let mut frozen = frozen();
    frozen.task.evaluation_metric = EVIL.to_owned();
    let folder = sealed.path("runs").join(format!("{EVIL}\nid"));
    fs::create_dir_all(&folder).unwrap();
    drop(Journal::create_in(hold(&folder).unwrap(), &frozen).unwrap());
    sealed.write(&format!("runs/{EVIL}/journal.db"), b"no database");
    let check = |line: &str, stdout: bool, stderr: bool| {
        let said = sealed.run(line);
        for (text, is_named) in [(&said.stdout, stdout), (&said.stderr, stderr)] {
            let acts = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
            assert!(!text.contains(acts), "{line}: {said:?}");
            assert_eq!(text.contains(NAMED), is_named, "{line}: {said:?}");
        }
        said.stdout
    };
    // A heading and one row, whatever a name contains.
    assert_eq!(check("list", true, true).lines().count(), 2);
    check(&format!("show {EVIL}"), false, true);
    check(&format!("resume no{EVIL}"), false, true);
}

#[test]
fn completions_and_pages_know_every_command() {
    let sealed = Sealed::with(&[]);
    let commands = ["run", "resume", "watch", "list", "show", "report", "init", "check", "doctor", "prompts"];
    for shell in ["bash", "zsh", "fish"] {
        let said = sealed.run(&format!("completions {shell}"));
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{shell}");
        for word in commands.iter().chain(&["max-budget-usd"]) {
            assert!(said.stdout.contains(word), "{word} for {shell}");
        }
    }
    assert_eq!(sealed.run("completions csh").code, 2);
    let said = sealed.run("man");
    assert!(said.code == 0 && said.stdout.contains(".TH mle-star 1"), "{said:?}");
    assert_eq!(sealed.run("man pages").code, 0);
    for command in commands {
        let page = sealed.read(&format!("pages/mle-star-{command}.1"));
        assert!(page.contains(".SH SYNOPSIS"), "{command}");
    }
    assert_eq!(sealed.run("man data/train.csv").code, 2);
}
