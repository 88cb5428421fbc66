//! The help texts, compared with `help.txt`; `UPDATE_HELP=1` writes that file anew.

use std::fs;
use std::path::Path;

use crate::sealed::Sealed;

const COMMANDS: [&str; 14] = [
    "",
    "run",
    "resume",
    "list",
    "watch",
    "show",
    "report",
    "ui",
    "init",
    "doctor",
    "prompts",
    "prompts export",
    "completions",
    "man",
];

#[test]
fn help_is_as_written_down() {
    let sealed = Sealed::with(&[]);
    let mut text = String::new();
    for command in COMMANDS {
        let said = sealed.run(&format!("{command} --help"));
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{command}");
        text.push_str(&format!("$ mle-star {command} --help\n{}\n", said.stdout));
    }
    let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/help.txt");
    if std::env::var_os("UPDATE_HELP").is_some() {
        fs::write(&file, &text).unwrap();
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    let first = text.lines().zip(expected.lines()).find(|(is, was)| is != was);
    assert_eq!(text, expected, "first difference: {first:?}; UPDATE_HELP=1 takes it over");
}
