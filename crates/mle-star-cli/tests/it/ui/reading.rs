//! Reading a run must not change its folder, and must tolerate any content.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::{MetadataExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::json;

use super::served::Served;
use crate::events::wait_for;
use crate::exits::{SCORE, SLOW, SMALL, SUBMIT, WHILE_SLOW, interpreter};
use crate::sealed::{Said, Sealed};

/// An unprivileged user.
const OTHER_USER: u32 = 65534;

/// A finished run, one killed in its second script, and one whose second script runs until the test ends.
fn three_runs(sealed: &Sealed) -> Child {
    let slow = format!("case $PWD in *candidate-1*) {WHILE_SLOW} ;; esac");
    let python = interpreter(sealed, &format!("{slow}; {SUBMIT}; {SCORE}"));
    let line = |id: &str| format!("run data --run-id {id} --json --set python={python} {SMALL}");
    assert_eq!(sealed.run(&line("finished")).code, 0);
    let begun = |id: &str| {
        let mut run = sealed.command(&line(id));
        let mut run = run.envs([SLOW]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        wait_for(&mut run, &["script_started", "candidate-1"]);
        run
    };
    let mut killed = begun("killed");
    killed.kill().unwrap();
    killed.wait().unwrap();
    begun("live")
}

/// Everything below a folder: path, kind, size, time of the last change and of the last write to its node.
fn listing(folder: &Path) -> Vec<String> {
    let mut find = Command::new("find");
    let listed = find.arg(folder).args(["-printf", "%p %y %s %T@ %C@\n"]).output().unwrap();
    let mut lines: Vec<String> =
        String::from_utf8(listed.stdout).unwrap().lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// The binary as a user who may only read the runs.
struct Reader<'a> {
    sealed: &'a Sealed,
}

impl<'a> Reader<'a> {
    fn of(sealed: &'a Sealed) -> Self {
        // Other users need not reach the folder in which the binary was built.
        fs::copy(env!("CARGO_BIN_EXE_mle-star"), sealed.path("mle-star")).unwrap();
        assert!(
            Command::new("chmod").args(["-R", "a+rX,a-w"]).arg(sealed.path("")).status().unwrap().success()
        );
        Self { sealed }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(self.sealed.path("mle-star"));
        command.args(line.split_whitespace()).current_dir(self.sealed.path("")).env_clear().env("HOME", "/");
        // Root may write anywhere; for other users, write access was just removed.
        if fs::metadata("/proc/self").unwrap().uid() == 0 {
            command.uid(OTHER_USER).gid(OTHER_USER);
        }
        command
    }

    fn run(&self, line: &str) -> Said {
        let output = self.command(line).output().unwrap();
        Said {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

#[test]
fn runs_are_read_without_write_access_and_reading_writes_nothing() {
    let sealed = Sealed::with(&[]);
    let mut live = three_runs(&sealed);
    let reader = Reader::of(&sealed);
    let still = ["finished", "killed"].map(|id| sealed.path("runs").join(id));
    assert!(still[1].join("journal.db-wal").exists() && !still[0].join("journal.db-wal").exists());
    let before = still.each_ref().map(|run| listing(run));
    let names = sealed.names("runs/live");

    let listed = reader.run("list");
    assert_eq!((listed.code, listed.stderr.as_str()), (0, ""), "{listed:?}");
    for (id, state) in [("finished", "finished"), ("killed", "unfinished"), ("live", "running")] {
        let row = listed.stdout.lines().find(|line| line.starts_with(&format!("{id} "))).unwrap();
        assert!(row.contains(state) && row.contains("0.50000"), "{listed:?}");
        let shown = reader.run(&format!("show {id} --json"));
        // In a killed or running run, the records before the second script are in the log.
        assert!(shown.code == 0 && shown.stdout.contains("phase1/candidate-1/init"), "{shown:?}");
    }
    let watched = reader.run("watch finished");
    assert_eq!(watched.code, 0, "{watched:?}");
    let page = Served::started(reader.command("ui --json --port 0"));
    assert!(!page.get("/").body.contains("cannot be read"));
    for id in ["finished", "killed", "live"] {
        let body = page.get(&format!("/runs/{id}")).body;
        assert!(
            body.contains("phase1/candidate-1") && !body.contains("not a readable journal"),
            "{id}: {body}"
        );
    }

    assert_eq!(still.each_ref().map(|run| listing(run)), before);
    assert_eq!(sealed.names("runs/live"), names);
    live.kill().unwrap();
    live.wait().unwrap();
    // So that the folder can be removed.
    assert!(Command::new("chmod").args(["-R", "u+w"]).arg(sealed.path("")).status().unwrap().success());
}

#[test]
fn reading_with_write_access_writes_nothing_either() {
    let sealed = Sealed::with(&[]);
    let mut live = three_runs(&sealed);
    let still = ["finished", "killed"].map(|id| sealed.path("runs").join(id));
    let before = still.each_ref().map(|run| listing(run));
    let page = Served::of(&sealed, "");
    for path in [
        "/",
        "/runs/finished",
        "/runs/killed",
        "/start",
        "/runs/finished/files/submission.csv",
        "/runs/finished/files/solution.ipynb",
        "/runs/killed/logs/mle-star.log",
        "/runs/killed/resume",
    ] {
        assert_eq!(page.get(path).status, 200, "{path}");
    }
    assert_eq!(page.get("/runs/killed/files/solution.ipynb").status, 404, "a run without a result has none");
    let of = |id: &str| page.get(&format!("/runs/{id}")).body.contains("files/solution.ipynb\"");
    assert!(of("finished") && !of("killed"));
    for line in
        ["list", "show finished", "show killed --json", "show finished --code finalization", "watch finished"]
    {
        assert_eq!(sealed.run(line).code, 0, "{line}");
    }
    assert_eq!(page.post("/runs/finished/resume", "").status, 409, "a finished run is not resumed");
    assert_eq!(still.each_ref().map(|run| listing(run)), before);
    live.kill().unwrap();
    live.wait().unwrap();
}

#[test]
fn a_script_that_waits_for_its_slot_is_shown_as_waiting() {
    let sealed = Sealed::with(&[]);
    // The baseline and the comparison of the tables come first and alone.
    let python = interpreter(&sealed, "case $PWD in *tables*|*baseline*) exit 1 ;; esac; exec sleep 600");
    let line = format!("run data --run-id r --json --jobs 1 --set python={python} {SMALL}");
    let mut run = sealed.command(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&mut run, &["script_started", "candidate-"]);
    let page = Served::of(&sealed, "");
    // Both candidates have their script by then, and there is one slot.
    let mut events = BufReader::new(page.stream("GET", "/runs/r/events?since=0", &[], "")).lines();
    let shown = events.find_map(|line| line.ok().filter(|line| line.contains("script, waits for its turn")));
    let shown = shown.unwrap();
    assert_eq!(shown.matches("script, since ").count(), 1, "{shown}");
    assert_eq!(shown.matches("script, waits for its turn").count(), 1, "{shown}");
    let said = sealed.run("show r").stdout;
    assert!(said.contains(": script, since ") && said.contains(": script, waits for its turn"), "{said}");
    run.kill().unwrap();
    run.wait().unwrap();
}

#[test]
fn what_an_agent_waits_for_and_what_is_used_of_the_limits_is_shown() {
    let sealed = Sealed::with(&[]);
    let options = format!("--agents files --time-limit 3600 --max-budget-usd 5 {SMALL}");
    let python = interpreter(&sealed, "exit 1");
    let mut run = sealed.command(&format!("run data --run-id r --json --set python={python} {options}"));
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_for(&mut run, &["agent_started", "retriever"]);
    let waits = json!({"time": jiff::Timestamp::now(), "run_id": "r", "event": "agent_waits",
        "place": "phase1/retriever", "agent": "retriever", "seconds": 90.0, "reason": "<b>overloaded</b>"});
    let log = sealed.path("runs/r/logs/events.jsonl");
    writeln!(fs::OpenOptions::new().append(true).open(log).unwrap(), "{waits}").unwrap();
    let body = Served::of(&sealed, "").get("/runs/r").body;
    for part in
        ["waits for the service, asks again after 1m 30s: &lt;b&gt;overloaded", "of 1h used", "of $5.00"]
    {
        assert!(body.contains(part), "{part}: {body}");
    }
    run.kill().unwrap();
    run.wait().unwrap();
}

/// A run modified by scripts or other users, next to a normal one.
fn with_spoiled(spoil: impl FnOnce(&Path)) -> Sealed {
    let sealed = Sealed::with(&[]);
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    for id in ["good", "bad"] {
        assert_eq!(sealed.run(&format!("run data --run-id {id} --set python={python} {SMALL}")).code, 0);
    }
    sealed.write("secret/shadow", b"secret");
    spoil(&sealed.path("runs/bad"));
    sealed
}

/// The binary with limits of 30 seconds and little memory.
fn bounded(sealed: &Sealed, line: &str) -> Said {
    let program = format!("ulimit -v 1500000; exec timeout 30 {} {line}", env!("CARGO_BIN_EXE_mle-star"));
    let output = Command::new("sh").args(["-c", &program]).current_dir(sealed.path("")).output().unwrap();
    Said {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn links_in_a_run_lead_nowhere() {
    let sealed = with_spoiled(|run| {
        let secret = run.join("../../secret");
        for folder in ["logs", "final"] {
            fs::rename(run.join(folder), run.join(format!("{folder}.old"))).unwrap();
            symlink(&secret, run.join(folder)).unwrap();
        }
        fs::write(secret.join("submission.csv"), "secret").unwrap();
        fs::write(secret.join("requirements.txt"), "secret").unwrap();
        fs::remove_file(run.join("report.html")).unwrap();
        symlink(secret.join("shadow"), run.join("report.html")).unwrap();
    });
    let page = Served::of(&sealed, "");
    for path in ["logs/shadow", "files/submission.csv", "files/report.html", "logs/..%2fconfig.json"] {
        assert_eq!(page.get(&format!("/runs/bad/{path}")).status, 404, "{path}");
    }
    assert_eq!(page.get("/runs/good/files/report.html").status, 200);
    for page in [page.get("/runs/bad").body, bounded(&sealed, "show bad").stdout] {
        assert!(page.contains("candidate") && !page.contains("secret"), "{page}");
    }
}

#[test]
fn pipes_and_huge_files_hold_nothing_up() {
    let pipe = |path: &Path| mkfifo(path, Mode::S_IRWXU).unwrap();
    let huge = |path: &Path| fs::File::create(path).unwrap().set_len(3 << 30).unwrap();
    let sealed = with_spoiled(|_| ());
    let check = |name: &str, spoil: &dyn Fn(&Path)| {
        let (path, kept) = (sealed.path("runs/bad").join(name), sealed.path("kept"));
        let had_one = fs::rename(&path, &kept).is_ok();
        spoil(&path);
        let listed = bounded(&sealed, "list");
        assert!(listed.code == 0 && listed.stdout.contains("good "), "{name}: {listed:?}");
        for command in ["show", "watch"] {
            let said = bounded(&sealed, &format!("{command} bad"));
            assert!((0..=2).contains(&said.code), "{command}, {name}: {said:?}");
        }
        let page = Served::of(&sealed, "");
        assert!(page.get("/").body.contains("/runs/good"), "{name}");
        assert_eq!(page.get("/runs/bad").status, 200, "{name}");
        fs::remove_file(&path).unwrap();
        if had_one {
            fs::rename(&kept, &path).unwrap();
        }
    };
    check("result.json", &pipe);
    check("logs/events.jsonl", &pipe);
    check("logs/events.jsonl", &huge);
    check("journal.lock", &pipe);
    check("journal.db", &pipe);
    check("journal.db", &huge);
    assert_eq!(bounded(&sealed, "list").stderr, "");
}
