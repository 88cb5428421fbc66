//! The help texts, as a snapshot. `INSTA_UPDATE=always cargo test -p mle-star-cli help` accepts a change.

use crate::sealed::Sealed;

const COMMANDS: [&str; 21] = [
    "",
    "run",
    "bench",
    "resume",
    "stop",
    "list",
    "watch",
    "show",
    "report",
    "delete",
    "ui",
    "mcp",
    "skill",
    "init",
    "check",
    "doctor",
    "runner",
    "prompts",
    "prompts export",
    "completions",
    "man",
];

#[test]
fn help_is_as_reviewed() {
    let sealed = Sealed::with(&[]);
    let mut text = String::new();
    for command in COMMANDS {
        let said = sealed.run(&format!("{command} --help"));
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{command}");
        text.push_str(&format!("$ mle-star {command} --help\n{}\n", said.stdout));
    }
    let text: String = text.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    insta::assert_snapshot!("help", text);
}
