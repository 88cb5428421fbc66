//! The local runner with real processes.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star::stop::Stop;
use mle_star_domain::effects::{OutOfMemory, ScriptEnd, ScriptOutcome};
use mle_star_domain::place::Place;
use mle_star_domain::question::FileStem;
use mle_star_process::machine::Gpu;
use mle_star_process::sandbox::Layers;

use super::world::{IS_WARM, PLACE, Pulse, SHARED, STEM, World, request, shared};

const SOON: Duration = Duration::from_secs(20);
const AT_ONCE: Duration = Duration::ZERO;

#[tokio::test]
async fn a_script_ends_as_it_would_by_itself() {
    let world = World::new().await;
    let check = async |script: &str, end: ScriptEnd, score: Option<f64>, is_error: bool| {
        let outcome = world.run(script).await;
        assert_eq!((&outcome.end, outcome.score), (&end, score), "{script}: {outcome:?}");
        assert_eq!(outcome.is_error(), is_error, "{script}: {outcome:?}");
        assert_eq!(outcome.notes, Vec::<String>::new(), "{script}");
    };
    let exited = |code| ScriptEnd::Exited { code };
    check("print('Final Validation Performance: 0.8196')", exited(0), Some(0.8196), false).await;
    check("", exited(0), None, false).await;
    check("raise SystemExit(3)", exited(3), None, true).await;
    check("raise ValueError('x')", exited(1), None, true).await;
    check("import os; os.kill(os.getpid(), 11)", ScriptEnd::Signalled { signal: 11 }, None, true).await;
    check(
        "import sys; sys.stdout.close(); sys.stderr.close(); import time; time.sleep(0.1)",
        exited(0),
        None,
        false,
    )
    .await;
    // Standard input is empty.
    check("import sys; assert sys.stdin.read() == ''", exited(0), None, false).await;
    // A closed pipe is an error of the script, as in a shell, and not a silent death.
    check("import signal; assert signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN", exited(0), None, false)
        .await;
    check("import signal; assert not signal.pthread_sigmask(signal.SIG_BLOCK, [])", exited(0), None, false)
        .await;
}

#[tokio::test]
async fn output_and_traceback_are_those_of_plain_python() {
    let world = World::new().await;
    let script = "import sys\nprint('é')\nsys.stdout.flush()\nsys.stdout.buffer.write(b'\\xff\\n')\n\
                  def f():\n    return {}['k']\nf()\n";
    let outcome = world.run(script).await;
    assert_eq!(outcome.stdout.text(), "é\n\u{FFFD}\n");
    assert_eq!(
        fs::read(world.file(&format!("logs/{STEM}.stdout"))).unwrap(),
        "é\n\u{e9}\n".as_bytes()[..3].iter().copied().chain(*b"\xff\n").collect::<Vec<u8>>()
    );
    let traceback = outcome.traceback.unwrap();
    assert!(traceback.starts_with("Traceback (most recent call last):\n"), "{traceback}");
    assert!(traceback.contains("solution.py\", line 7, in <module>\n    f()\n"), "{traceback}");
    assert!(traceback.ends_with("KeyError: 'k'"), "{traceback}");
    assert_eq!(world.read(&format!("logs/{STEM}.stderr")), outcome.stderr.text());
    assert_eq!(world.read(&format!("solutions/{STEM}.py")), script);
}

/// Python expressions for a script's view of its folder and environment.
#[tokio::test]
async fn a_script_finds_its_folder_and_its_share() {
    let mut world = World::new().await;
    world.setup.slots = 2;
    world.setup.machine.cores = 8;
    let gpu = |index| Gpu { index, name: "G".to_owned(), memory_mib: 1 };
    world.setup.machine.gpus = (0..4).map(gpu).collect();
    let outcome = world
        .run(
            "import os, sys, tempfile\nprint(sorted(n for n in os.listdir() if not n.startswith('.')))\n\
             print(sorted(os.listdir('input')), os.listdir('final'), open('input/train.csv').read().split())\n\
             e = os.environ\nprint(e['PYTHONUNBUFFERED'], e['PYTHONHASHSEED'], e['CUDA_VISIBLE_DEVICES'])\n\
             print(e['OMP_NUM_THREADS'], e['OMP_THREAD_LIMIT'], e['MKL_NUM_THREADS'], e['GOMP_SPINCOUNT'], 'PYTHONDONTWRITEBYTECODE' in e)\n\
             print(os.path.samefile(os.path.expanduser('~'), '.home'), os.path.samefile(tempfile.gettempdir(), '.tmp'))\n\
             print(__name__, sys.argv, os.getpid() == os.getsid(0), os.getpgid(0) == os.getpid())\n\
             print(len(os.listdir('/proc/self/fd')))\n",
        )
        .await;
    let expected = "['final', 'input', 'solution.py']\n['train.csv'] [] ['id,y', '1,0']\n1 0 0,2\n4 4 4 1000 False\n\
                    True True\n__main__ ['solution.py'] True True\n4\n";
    assert_eq!(outcome.stdout.text(), expected, "{}", outcome.stderr.text());
}

#[tokio::test]
async fn what_is_kept_and_what_goes() {
    let world = World::new().await;
    let check = async |script: &str, findings: Option<usize>| {
        let outcome = world.run(script).await;
        let found = outcome.submission.as_ref().map(|submission| submission.findings.len());
        assert_eq!(found, findings, "{script}: {outcome:?}");
        let kept = world.runner().submission(&FileStem::new(&Place::from(PLACE), script));
        assert_eq!(kept.is_some(), findings.is_some(), "{script}");
        if let Some(about) = kept.map(|kept| fs::metadata(kept).unwrap()) {
            assert_eq!((about.mode() & 0o7113, about.nlink()), (0, 1), "{script}: {:o}", about.mode());
        }
        assert_eq!(world.working(), [""; 0], "{script}");
    };
    let first = "open('final/submission.csv', 'w').write('id,y\\n1,0\\n2,1\\n')";
    check(first, Some(0)).await;
    // Another script at the same place does not inherit it, and does not take its place.
    check("print('nothing')", None).await;
    check("open('final/submission.csv', 'w').write('id,y\\n1,1\\n2,1\\n')", Some(0)).await;
    let kept = world.runner().submission(&FileStem::new(&Place::from(PLACE), first)).unwrap();
    assert_eq!(fs::read_to_string(&kept).unwrap(), "id,y\n1,0\n2,1\n");
    // The same script without a submission leaves none.
    fs::write(world.setup.data_dir.join("once"), "").unwrap();
    let once = "import os\nif os.path.exists('input/once'): open('final/submission.csv', 'w').write('id,y\\n1,0\\n2,1\\n')";
    check(once, Some(0)).await;
    fs::remove_file(world.setup.data_dir.join("once")).unwrap();
    check(once, None).await;
    check("open('final/submission.csv', 'w').write('id,y\\n1,0\\n')", Some(2)).await;
    // Neither its mode nor its other names are kept.
    check(&format!("{first}; import os; os.chmod('final/submission.csv', 0o6755)"), Some(0)).await;
    check(&format!("{first}; import os; os.link('final/submission.csv', 'other')"), Some(0)).await;
    check("import os; os.symlink('/etc/hostname', 'final/submission.csv')", None).await;
    check("import os; os.mkfifo('final/submission.csv')", None).await;
    check("import os; os.makedirs('a/b'); open('a/b/c', 'w'); os.chmod('a/b', 0); os.chmod('a', 0)", None)
        .await;
    // Files of a killed run do not disturb.
    fs::create_dir_all(world.file(&format!("work/{STEM}/input"))).unwrap();
    fs::write(world.file(&format!("work/{STEM}/stale")), "x").unwrap();
    check("import os; assert not os.path.exists('stale')", None).await;
}

#[tokio::test]
async fn the_data_is_protected_or_its_change_is_said() {
    let mut world = World::new().await;
    // With layers, it cannot be changed at all.
    world.setup.isolation.layers = Layers::none();
    let script = "import os; os.chmod('input/train.csv', 0o644); open('input/train.csv', 'a').write('x')";
    // Too large to be copied: linked.
    fs::File::create(world.setup.data_dir.join("big")).unwrap().set_len(40 * 1024 * 1024).unwrap();
    let outcome = world.run("print(len(open('input/train.csv').read()))").await;
    assert_eq!((outcome.stdout.text().as_str(), outcome.notes.len()), ("9\n", 0), "{outcome:?}");
    let outcome = world.run(script).await;
    assert!(outcome.notes[0].contains("THE DATA IS NO LONGER") && outcome.notes[0].contains("`train.csv`"));
}

#[tokio::test]
async fn at_its_limit_a_script_is_asked_then_killed() {
    let world = World::new().await;
    let check = async |prelude: &str, limit: f64, expected: (f64, f64)| {
        let script = format!(
            "import signal, sys, time\nprint('before')\n{prelude}\nprint('ready')\ntime.sleep(600)\n"
        );
        let outcome = world.runner().run(&request(&script, Duration::from_secs_f64(limit))).await.unwrap();
        assert_eq!(outcome.end, ScriptEnd::TimedOut, "{outcome:?}");
        assert!(outcome.is_error() && outcome.notes[0].contains("stopped after"), "{outcome:?}");
        assert!(outcome.stdout.text().starts_with("before\nready\n"), "{outcome:?}");
        let seconds = outcome.duration_seconds;
        assert!(expected.0 <= seconds && seconds < expected.1, "{prelude}: {seconds}");
        outcome
    };
    check("", 1.5, (1.5, 5.0)).await;
    let handler = "signal.signal(signal.SIGTERM, lambda *_: (print('asked'), sys.exit(0)))";
    assert_eq!(check(handler, 1.5, (1.5, 5.0)).await.stdout.text(), "before\nready\nasked\n");
    check("signal.signal(signal.SIGTERM, signal.SIG_IGN)", 1.5, (6.5, 10.0)).await;
}

#[tokio::test]
async fn nothing_survives_the_script_however_it_ends() {
    let check = async |last: &str, limit: Duration, expected: ScriptEnd| {
        let world = World::new().await;
        for runner in [world.runner(), world.warm_runner(&[]).await] {
            let mut pulse = Pulse::new(world.folder.path());
            let outcome = runner.run(&request(&pulse.family(last), limit)).await.unwrap();
            assert!(pulse.is_dead_within(AT_ONCE), "{last}: a process is still alive");
            fs::remove_file(&pulse.path).unwrap();
            assert_eq!((&outcome.end, outcome.stdout.text().as_str()), (&expected, "started\n"), "{last}");
            let note = outcome.notes.iter().find(|note| note.contains("left running")).map(String::as_str);
            let stopped = limit < SOON;
            assert!(
                stopped || note.is_some_and(|note| note.starts_with("killed 2 processes")),
                "{last}: {:?}",
                outcome.notes
            );
        }
    };
    check("", SOON, ScriptEnd::Exited { code: 0 }).await;
    check("raise ValueError", SOON, ScriptEnd::Exited { code: 1 }).await;
    check("os.kill(os.getpid(), 9)", SOON, ScriptEnd::Signalled { signal: 9 }).await;
    check("deaf()\ntime.sleep(600)", Duration::from_secs(3), ScriptEnd::TimedOut).await;
}

#[tokio::test]
async fn dropping_the_future_ends_everything() {
    let world = World::new().await;
    for (runner, is_warm) in [(world.runner(), "False\n"), (world.warm_runner(&[]).await, "True\n")] {
        let pulse = Pulse::new(world.folder.path());
        let long = request(&pulse.family("deaf()\ntime.sleep(600)"), Duration::from_secs(600));
        let same = runner.clone();
        let running = tokio::spawn(async move { same.run(&long).await });
        let mut pulse = pulse.alive().await;
        running.abort();
        assert!(running.await.unwrap_err().is_cancelled());
        assert!(pulse.is_dead_within(AT_ONCE), "a process is still alive");
        fs::remove_file(&pulse.path).unwrap();
        assert_eq!(world.working(), [""; 0]);
        runner.warmed_up(0).await;
        let next = runner.run(&request(&format!("print({IS_WARM})"), SOON)).await.unwrap();
        assert_eq!(next.stdout.text(), is_warm, "the slot has no worker any more");
    }
}

#[tokio::test]
async fn scripts_side_by_side_end_each_by_itself() {
    let worlds = [World::new().await, World::new().await];
    let (mut pulses, mut running) = (Vec::new(), Vec::new());
    for world in &worlds {
        let (runner, pulse) = (world.runner(), Pulse::new(world.folder.path()));
        let request = request(&pulse.family("time.sleep(600)"), Duration::from_secs(600));
        running.push(tokio::spawn(async move { runner.run(&request).await }));
        pulses.push(pulse.alive().await);
    }
    let [first, second] = pulses.as_mut_slice() else { unreachable!() };
    running[0].abort();
    assert!((&mut running[0]).await.unwrap_err().is_cancelled());
    assert!(first.is_dead_within(AT_ONCE), "the second guard keeps the first script");
    assert!(!second.is_dead_within(AT_ONCE) && !running[1].is_finished(), "the first took the second along");
    running[1].abort();
    assert!((&mut running[1]).await.unwrap_err().is_cancelled());
    assert!(second.is_dead_within(AT_ONCE), "a process is still alive");
}

#[tokio::test]
async fn a_flood_of_output_is_cut_and_memory_stays_small() {
    let world = World::new().await;
    let script = "import sys\nline = b'x' * 1023 + b'\\n'\nfor _ in range(200 * 1024):\n    sys.stdout.buffer.write(line)\n\
                  print('Final Validation Performance: 0.25')\n";
    for runner in [world.runner(), world.warm_runner(&[]).await] {
        let before = peak_memory_mib();
        let outcome = runner.run(&request(script, Duration::from_secs(60))).await.unwrap();
        assert!(peak_memory_mib() < before + 10, "{before} MiB before, {} after", peak_memory_mib());
        let size = fs::metadata(world.file(&format!("logs/{STEM}.stdout"))).unwrap().len();
        assert!((100 << 20..(100 << 20) + 200).contains(&size), "{size}");
        assert!((200 << 20..(200 << 20) + 100).contains(&outcome.stdout.bytes), "{}", outcome.stdout.bytes);
        assert_eq!((outcome.end, outcome.score), (ScriptEnd::Exited { code: 0 }, Some(0.25)));
        assert_eq!(outcome.notes, ["stdout was cut at 100 MiB of 200 MiB"]);
        assert!(outcome.stdout.text().ends_with("0.25\n") && outcome.stdout.text().len() < 70_000);
    }
}

fn peak_memory_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

#[tokio::test]
async fn too_much_memory_ends_the_script() {
    let mut world = World::new().await;
    world.setup.memory_limit_mib = Some(200);
    let children = "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        x = b'x' * (80 << 20)\n        time.sleep(600)\n\
                    os.wait()\n";
    let outcome = world.run(children).await;
    assert_eq!(outcome.end, ScriptEnd::Signalled { signal: 9 });
    assert!(outcome.notes[0].contains("the limit is 200 MiB"), "{:?}", outcome.notes);
    assert_eq!(outcome.out_of_memory, Some(OutOfMemory::Limit));
    // Memory shared after the fork counts once. The children live long enough for several checks.
    let shared = "import os, time\nx = b'x' * (80 << 20)\nfor _ in range(4):\n    if os.fork() == 0:\n        time.sleep(1)\n\
                  \x20       os._exit(0)\nfor _ in range(4): os.wait()\nprint(len(x))\n";
    let outcome = world.run(shared).await;
    assert_eq!((outcome.end, outcome.notes), (ScriptEnd::Exited { code: 0 }, Vec::new()));
    // The most that was used is known.
    let peak = outcome.peak_memory_mib.unwrap();
    assert!((80..200).contains(&peak), "{peak}");
    // A failed allocation is no limit of the program.
    let outcome = world.run("x = bytearray(1 << 60)").await;
    assert_eq!(outcome.out_of_memory, Some(OutOfMemory::Allocation), "{outcome:?}");
}

/// Sockets of multiprocessing's helpers are in TMPDIR, and their paths must be short.
#[tokio::test]
async fn helpers_of_multiprocessing_work_in_deep_folders_and_tidy_up() {
    let mut world = World::new().await;
    world.setup.run_folder = world.folder.path().join("a-folder-with-a-long-name/".repeat(4));
    let script = "import multiprocessing as mp, tempfile\n\
                  def square(x): return x * x\n\
                  if __name__ == '__main__':\n\
                  \x20   with mp.get_context('spawn').Manager() as m: print(list(m.list([1, 2])))\n\
                  \x20   with mp.get_context('forkserver').Pool(2) as p: print(p.map(square, [2, 3]))\n\
                  \x20   print(tempfile.gettempdir())\n";
    let outcome = world.run(script).await;
    let stdout = outcome.stdout.text();
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines[..2], ["[1, 2]", "[4, 9]"], "{outcome:?}");
    assert!(!Path::new(lines[2]).is_symlink(), "{} is left", lines[2]);
    assert_eq!(outcome.notes, Vec::<String>::new());
}

#[tokio::test]
async fn what_is_broken_outside_stops_the_run() {
    let mut world = World::new().await;
    world.setup.environment.python = PathBuf::from("/no/python");
    let result = world.runner().run(&request("", SOON)).await;
    let Err(Stop::Outside(trouble)) = result else { panic!("{result:?}") };
    assert!(trouble.message.contains("/no/python") && trouble.hint.contains("interpreter"), "{trouble:?}");
    assert_eq!(world.working(), [""; 0]);
}

/// A script that fails because the disk is full for all programs does not count as failed. It must run again.
#[tokio::test]
async fn a_full_disk_stops_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let volume = folder.path().join("volume");
    fs::create_dir(&volume).unwrap();
    let mut inside = Command::new("unshare");
    let fill = "mount -t tmpfs -o size=4m none $0 && head -c 300000 /dev/zero >$0/others && exec \"$@\"";
    inside.args(["-rm", "sh", "-c", fill]).arg(&volume);
    let command = orchestrator_command(folder.path(), "open('x', 'wb').write(b'x' * 4_000_000)");
    inside.arg(command.get_program()).args(command.get_args());
    inside.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = inside.env("TMPDIR", &volume).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let stop = said.lines().find_map(|line| line.split_once("stop: ")).map(|(_, stop)| stop.to_owned());
    let stop = stop.unwrap_or_else(|| panic!("{said}"));
    assert!(stop.contains("volume") && stop.contains("is full: a script could not write"), "{stop}");
    assert!(stop.contains("free disk space"), "{stop}");
    // If there is space, it is the script's own failure.
    let world = World::new().await;
    let outcome = world.run("f = open('/dev/full', 'w', 1)\nf.write('x\\n')").await;
    assert!(outcome.traceback.is_some_and(|text| text.contains("No space left on device")));
}

/// Runs the script `MLE_STAR_TEST_SCRIPT`. Other tests start this as a separate process.
#[tokio::test]
#[ignore = "other tests run it as a separate program"]
async fn program_orchestrator() {
    let world = World::new().await;
    let script = fs::read_to_string(env::var("MLE_STAR_TEST_SCRIPT").unwrap()).unwrap();
    let is_warm = env::var_os("MLE_STAR_TEST_WARM").is_some();
    let runner = if is_warm { world.warm_runner(&[]).await } else { world.runner() };
    match runner.run(&request(&script, Duration::from_secs(60))).await {
        Ok(outcome) => println!("outcome: {}", serde_json::to_string(&outcome).unwrap()),
        Err(stop) => println!("stop: {stop:?}"),
    }
}

fn orchestrator_command(folder: &Path, script: &str) -> Command {
    let file = folder.join("script.py");
    fs::write(&file, script).unwrap();
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "scripts::runner::program_orchestrator", "--ignored", "--nocapture"]);
    command
        .env("MLE_STAR_TEST_SCRIPT", file)
        .env("TMPDIR", folder)
        .env(SHARED, shared(folder))
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command
}

#[test]
fn the_death_of_the_orchestrator_ends_everything() {
    for is_warm in [None, Some(("MLE_STAR_TEST_WARM", "1"))] {
        the_death_of_the_orchestrator(is_warm, "");
        // A guard works even if it cannot open files any more. An orphan wakes it, so that it waits again.
        let limit = "import os, resource as r\nr.prlimit(os.getppid(), r.RLIMIT_NOFILE, (0, 0))\nif os.fork() == 0:\n    os.fork()\n    os._exit(0)\nos.wait()";
        the_death_of_the_orchestrator(is_warm, limit);
    }
}

fn the_death_of_the_orchestrator(is_warm: Option<(&str, &str)>, before: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::new(folder.path());
    let script = format!("{before}\n{}", pulse.family("deaf()\ntime.sleep(600)"));
    let mut orchestrator = orchestrator_command(folder.path(), &script).envs(is_warm).spawn().unwrap();
    pulse.wait_for_life();
    assert!(!pulse.is_dead_within(AT_ONCE), "it ended before it was killed");
    let killed = Instant::now();
    orchestrator.kill().unwrap();
    assert!(pulse.is_dead_within(SOON), "a process is still alive after {:?}", killed.elapsed());
    assert!(!orchestrator.wait().unwrap().success());
}

#[test]
fn secrets_do_not_reach_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import os; print([n for n in ('ANTHROPIC_API_KEY', 'HF_TOKEN', 'AWS_X', 'HARMLESS') if n in os.environ])";
    let mut command = orchestrator_command(folder.path(), script);
    for name in ["ANTHROPIC_API_KEY", "HF_TOKEN", "AWS_X", "HARMLESS"] {
        command.env(name, "value");
    }
    for is_warm in [None, Some(("MLE_STAR_TEST_WARM", "1"))] {
        let output = command.envs(is_warm).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let json = stdout.lines().find_map(|line| line.split_once("outcome: ")).unwrap().1;
        let outcome: ScriptOutcome = serde_json::from_str(json).unwrap();
        assert_eq!(outcome.stdout.text(), "['HARMLESS']\n", "at {PLACE}");
    }
}
