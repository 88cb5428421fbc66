//! The choice of agents, based on the login and `claude`. The executable is a shell script that only prints its
//! version.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::sealed::{Said, Sealed};

/// A run that stops at its interpreter.
const RUN: &str = "run data --set python=/no/such/python";

/// A folder with a `claude` of this version in `bin/`; without one if the version is empty.
fn with_claude(version: &str) -> Sealed {
    let sealed = Sealed::with(&[]);
    if !version.is_empty() {
        sealed.write("bin/claude", format!("#!/bin/sh\necho '{version}'\n").as_bytes());
        fs::set_permissions(sealed.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
    }
    sealed
}

fn say(sealed: &Sealed, line: &str, environment: &[(&str, &str)]) -> Said {
    let path = format!("{}:/usr/bin:/bin", sealed.path("bin").display());
    let environment: Vec<(&str, &str)> =
        [("PATH", path.as_str())].into_iter().chain(environment.iter().copied()).collect();
    sealed.run_with(line, &environment)
}

const NEW: &str = "2.1.329 (Claude Code)";
const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "very-secret");

#[test]
fn agents_are_chosen_by_login_and_executable_and_the_reason_is_shown_first() {
    let check = |version: &str, environment: &[(&str, &str)], first: &str| {
        // The model may cost nothing where nobody agreed to it.
        for (budget, model) in [("", "; for a model, use --agents claude)"), ("--max-budget-usd 1", "")] {
            let said = say(&with_claude(version), &format!("{RUN} {budget}"), environment);
            let line = said.stderr.lines().next().unwrap();
            let first = if budget.is_empty() { "agents: offline (" } else { first };
            assert!(line.starts_with(first) && line.ends_with(model), "{first}: {said:?}");
            assert!(!said.stderr.contains("secret"), "{said:?}");
        }
    };
    check(NEW, &[KEY], "agents: claude (ANTHROPIC_API_KEY is set; claude 2.1.329)");
    check(NEW, &[], "agents: offline (no ANTHROPIC_API_KEY ");
    check(NEW, &[("ANTHROPIC_API_KEY", "")], "agents: offline (no ANTHROPIC_API_KEY ");
    check(NEW, &[("ANTHROPIC_BASE_URL", "http://gateway")], "agents: offline (no ANTHROPIC_API_KEY ");
    check(NEW, &[("CLAUDE_CODE_USE_BEDROCK", "0")], "agents: offline (no ANTHROPIC_API_KEY ");
    check("2.1.247", &[KEY], "agents: offline (ANTHROPIC_API_KEY is set, but claude 2.1.247 is too old");
    check("hello", &[KEY], "agents: offline (ANTHROPIC_API_KEY is set, but ");
}

#[test]
fn claude_that_was_asked_for_and_cannot_be_used_is_bad_usage() {
    let check = |version: &str, environment: &[(&str, &str)], more: &str, error: &str, hint: &str| {
        let sealed = with_claude(version);
        let said = say(&sealed, &format!("{RUN} --agents claude {more}"), environment);
        assert_eq!(said.code, 2, "{said:?}");
        let lines: Vec<&str> = said.stderr.lines().collect();
        assert!(lines.len() == 2 && lines[0].contains(error) && lines[1].contains(hint), "{said:?}");
        assert!(!sealed.path("runs").exists(), "{said:?}");
    };
    check(NEW, &[], "", "no ANTHROPIC_API_KEY", "set ANTHROPIC_API_KEY");
    check("2.1.247 (Claude Code)", &[KEY], "", "claude 2.1.247 is too old: 2.1.248", "npm install -g");
    check("", &[KEY, ("PATH", "/no/such/folder")], "", "no executable claude on PATH", "npm install -g");
    check(NEW, &[KEY], "--set claude_path=/no/such/claude", "at /no/such/claude", "claude_path");
    check(NEW, &[KEY, ("MLE_STAR_CLAUDE_PATH", "/no/claude")], "", "at /no/claude", "claude_path");
    check("no version", &[KEY], "", "does not print a version", "npm install");
}
