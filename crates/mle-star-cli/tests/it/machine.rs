//! What a machine and a shell bring along: folders that cannot be used, and names that a shell reads.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::Sealed;

#[test]
fn folders_that_cannot_be_used_are_named_with_what_to_set() {
    let sealed = Sealed::with(&[("file", "")]);
    let file = sealed.path("file").display().to_string();
    let check = |line: &str, environment: &[(&str, &str)], code: i32, parts: &[&str]| {
        let said = sealed.run_with(line, environment);
        assert_eq!(said.code, code, "{said:?}");
        let text = format!("{}{}", said.stdout, said.stderr);
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?}: {said:?}");
        assert!(code == 0 || said.stderr.matches("hint: ").count() == 1, "{said:?}");
    };
    let missing =
        ["the folder for temporary files /no/such, which TMPDIR names, does not exist", "set TMPDIR to"];
    for line in ["run data", "resume r", "bench data", "runner"] {
        check(line, &[("TMPDIR", "/no/such")], 2, &missing);
    }
    check("doctor", &[("TMPDIR", "/no/such")], 0, &["temporary:   ", missing[0]]);
    check("run data", &[("TMPDIR", &file)], 2, &["which TMPDIR names, is not a folder"]);
    check("run data --runs-dir file", &[], 2, &["the runs directory file: it is no folder", "--runs-dir"]);
    let caches = ["cannot use the cache", "file/mle-star", "set MLE_STAR_CACHE to"];
    check("run data --run-id a", &[("XDG_CACHE_HOME", &file)], 1, &caches);
    check("run data --run-id b", &[("HOME", &file)], 1, &["cannot use the cache", "set MLE_STAR_CACHE to"]);
    check("run data --run-id c", &[("PATH", "")], 2, &["no Python was found on PATH"]);
}

/// Also the version of a run.
#[test]
fn the_version_has_the_commit_of_the_source() {
    let said = Sealed::empty().run("--version");
    assert_eq!(said.stdout, format!("mle-star {}\n", mle_star_run::VERSION));
    let head =
        Command::new("git").args(["rev-parse", "HEAD"]).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let head = head.ok().filter(|output| output.status.success());
    let commit = head.map(|output| String::from_utf8(output.stdout).unwrap()[..12].to_owned());
    let expected = commit.map(|commit| format!("{}+{commit}", env!("CARGO_PKG_VERSION")));
    let found = mle_star_run::VERSION.trim_end_matches("-dirty");
    assert_eq!(found, expected.as_deref().unwrap_or(env!("CARGO_PKG_VERSION")));
}

/// Whatever is printed of a run that was moved exists.
#[test]
fn a_run_that_was_moved_shows_paths_that_exist() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let said = sealed.run(&format!("run data --run-id r --set python={python} {SMALL}"));
    assert_eq!(said.code, 0, "{said:?}");
    let check = |runs: &str| {
        for line in ["list", "list --json", "show r", "show r --json", "resume r", "report r", "watch r"] {
            let said =
                sealed.run(&format!("{line} --runs-dir {runs}").replace("resume r --runs-dir ", "resume "));
            let said = if line == "resume r" { sealed.run(&format!("resume {runs}/r")) } else { said };
            assert_eq!(said.code, 0, "{line}: {said:?}");
            let text = format!("{}{}", said.stdout, said.stderr);
            let is_path = |word: &&str| {
                let is_file =
                    word.contains("/final/") || word.contains("report.html") || word.starts_with('/');
                is_file && !word.starts_with("phase")
            };
            let words = text.split(|c: char| c.is_whitespace() || "\"',;()`".contains(c)).filter(is_path);
            for word in words {
                assert!(sealed.path(word).exists() || word.starts_with("./final"), "{line}: {word}");
            }
            assert!(!text.contains("runs/r") || runs.ends_with("runs"), "{line}: {text}");
        }
        assert!(sealed.run(&format!("show r --runs-dir {runs}")).stdout.contains("final/submission.csv"));
    };
    check("runs");
    std::fs::create_dir(sealed.path("elsewhere")).unwrap();
    std::fs::rename(sealed.path("runs"), sealed.path("elsewhere/moved")).unwrap();
    check("elsewhere/moved");
    std::os::unix::fs::symlink(sealed.path("elsewhere/moved"), sealed.path("link")).unwrap();
    check("link");
}

/// A copy goes on where it lies, and says so if its data is gone.
#[test]
fn a_copy_of_an_unfinished_run_goes_on_if_its_data_is_there() {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{WHILE_SLOW}; {SUBMIT}; {SCORE}"));
    let line = format!("run data --run-id r --time-limit 2 --set python={python} {SMALL}");
    assert_eq!(sealed.run_with(&line, &[SLOW]).code, 4);
    let copied = Command::new("cp").args(["-r", "runs", "copy"]).current_dir(sealed.path("")).status();
    assert!(copied.unwrap().success());
    std::fs::rename(sealed.path("data"), sealed.path("data-2")).unwrap();
    let said = sealed.run("resume copy/r --time-limit 600");
    assert_eq!(said.code, 2, "{said:?}");
    let data = sealed.path("data").canonicalize().unwrap_or_else(|_| sealed.path("data"));
    let parts =
        [format!("the data of the run is gone: there is no folder {}", data.display()), "ln -s ".to_owned()];
    assert!(parts.iter().all(|part| said.stderr.contains(part)), "{said:?}");
    std::os::unix::fs::symlink(sealed.path("data-2"), sealed.path("data")).unwrap();
    let said = sealed.run("resume copy/r --time-limit 600");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("copy/r/final/submission.csv"), "{said:?}");
    assert!(!sealed.path("runs/r/result.json").exists());
}

/// The command in a hint is pasted into a shell.
#[test]
fn commands_in_hints_can_be_pasted() {
    for runs_dir in ["runs", "it's my $HOME", "größe & \"co\""] {
        let sealed = Sealed::with(&[]);
        let python = interpreter(&sealed, &format!("{WHILE_SLOW}; {SUBMIT}; {SCORE}"));
        let mut command =
            sealed.command(&format!("run data --run-id r --json --set python={python} {SMALL}"));
        command.args(["--runs-dir", runs_dir]).envs([SLOW]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        assert!(lines.any(|line| line.contains("script_started")));
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        let said = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
        let hint = said.lines().last().unwrap().strip_prefix("hint: continue with: ").unwrap();

        let programs = sealed.path("programs");
        sealed.write("programs/mle-star", b"#!/bin/sh\nexec \"$BINARY\" \"$@\"\n");
        std::fs::set_permissions(programs.join("mle-star"), PermissionsExt::from_mode(0o755)).unwrap();
        let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
        let pasted = Command::new("sh")
            .args(["-c", hint])
            .current_dir(sealed.path(""))
            .env_clear()
            .envs([("PATH", path.as_str()), ("BINARY", env!("CARGO_BIN_EXE_mle-star"))])
            .env("HOME", sealed.path(""))
            .output()
            .unwrap();
        assert!(pasted.status.success(), "{hint}: {pasted:?}");
        assert!(sealed.path(runs_dir).join("r/result.json").exists());
    }
}
