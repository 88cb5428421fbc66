//! Real scripts that attack. Each attack is stopped or has no effect, its error helps the agent that repairs the
//! script, it leaves nothing behind, and the next script runs normally.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_needs::needs;
use mle_star_process::machine::Gpu;
use mle_star_process::sandbox::{Isolation, Layers, Network};
use nix::sys::resource::{Resource, getrlimit};

use super::target::{Ends, Target};
use super::world::{IS_WARM, World, request};

#[tokio::test]
async fn what_takes_too_much_is_stopped() {
    let target = Target::new().await;
    let stopped = async |attack: &str, note| {
        target.check(attack, Ends::Stopped(note)).await;
    };
    stopped("x = []\nwhile True: x.append(b'x' * (10 << 20))", "the limit is 300 MiB").await;
    let lying = "for n in range(60): open(f'/dev/shm/{n}', 'wb').write(b'x' * (10 << 20))\ntime.sleep(600)";
    stopped(lying, "the limit is 300 MiB").await;
    let nameless = "f = os.fdopen(os.memfd_create('x'), 'wb', 0)\nfor n in range(40): f.write(b'x' * (1 << 20))\nwhile True:\n    f = os.fdopen(os.memfd_create('x'), 'wb', 0)\n    held = globals().setdefault('held', [])\n    held.append(f)\n    f.write(b'x' * (20 << 20))";
    stopped(nameless, "the limit is 300 MiB").await;
    let large = "f = open('x', 'wb', 0)\nwhile True: f.write(b'x' * (1 << 20))";
    target.check(large, Ends::Refused("File too large", Some("disk space"))).await;
    let several = "for n in range(9): open(str(n), 'wb').write(b'x' * (20 << 20))\ntime.sleep(600)";
    stopped(several, "more than 50 MiB of the disk").await;
    let descriptors = "held = [open('/dev/null') for _ in range(100_000)]";
    target.check(descriptors, Ends::Refused("Too many open files", Some("more files open"))).await;
    let limits = "import resource as r\nprint(*(r.getrlimit(n) for n in (r.RLIMIT_CORE, r.RLIMIT_FSIZE)))";
    target.check(limits, Ends::Nothing("(0, 0) (52428800, 52428800)\n")).await;
    stopped("for n in range(5000): open(f'final/{n}', 'w').close()\ntime.sleep(600)", "more than 2000 files")
        .await;
    let deep = "for _ in range(1_500):\n    os.mkdir('d')\n    os.chdir('d')\ntime.sleep(600)";
    stopped(deep, "nested more than 200 deep").await;
    // Root can read the folder; other users get an error.
    let is_root = nix::unistd::geteuid().is_root();
    let found = if is_root { "more than 50 MiB of the disk" } else { "permission to read its folder d" };
    let unlisted = "os.mkdir('d')\nos.chmod('d', 0o300)\nfor n in range(9): open(f'd/{n}', 'wb').write(b'x' * (20 << 20))\ntime.sleep(600)";
    stopped(unlisted, found).await;
}

/// Unlimited bombs would disturb other programs on the machine. These stop by themselves, but later than they must
/// be stopped.
#[tokio::test]
async fn fork_bombs_are_stopped_within_moments() {
    let mut target = Target::new().await;
    let check = async |target: &Target, bomb: &str, ends| {
        let seconds = target.check(bomb, ends).await.duration_seconds;
        assert!(seconds < 20.0, "{bomb}: {seconds} s");
    };
    let count = "def count(): return sum(name.isdigit() for name in os.listdir('/proc'))\n";
    let wild =
        format!("{count}while count() < 400:\n    try: os.fork()\n    except OSError: pass\ntime.sleep(600)");
    let too_many = Ends::Stopped("more than 100 processes at once");
    check(&target, &wild, too_many).await;
    // Every process, including the first, leaves its parent, so no process tree has them all.
    let fleeing = "n = 0\nwhile n < 2000:\n    n += 1\n    if os.fork(): os._exit(0)";
    check(&target, fleeing, Ends::Contained("more processes and threads")).await;
    let threads = "import threading\nfor _ in range(2000): threading.Thread(target=time.sleep, args=(600,), daemon=True).start()";
    check(&target, threads, Ends::Refused("can't start new thread", Some("more processes and threads")))
        .await;
    // Without a process namespace, processes are counted from parent to child.
    target.world.setup.isolation.layers = Layers::none();
    check(&target, "for _ in range(8): os.fork()\ntime.sleep(600)", too_many).await;
}

#[tokio::test]
async fn what_is_outside_is_out_of_reach() {
    let target = Target::new().await;
    let refused = async |attack: &str| {
        target.check(attack, Ends::Refused("Error: [Errno", Some("only in its own folder"))).await;
    };
    for file in ["$JOURNAL", "$DATA", "$SECRET", "'input/train.csv'"] {
        refused(&format!("open({file}, 'a').write('x')")).await;
    }
    refused("os.chmod($DATA, 0)").await;
    target.check("os.utime($DATA, (1, 1))", Ends::Refused("Error: [Errno", None)).await;
    refused("os.symlink(os.path.dirname($SECRET), 'x')\nopen('x/new', 'w').write('x')").await;
    refused("print(open($SECRET).read())").await;
    refused("print(os.listdir(os.path.dirname($JOURNAL)))").await;
    let link = "os.link($SECRET, 'x')\nprint(open('x').read())";
    target.check(link, Ends::Refused("Error: [Errno", Some("only in its own folder"))).await;
    // The target of a link is neither read nor moved.
    let foreign = target.world.folder.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join("submission.csv"), "id,y\n1,0\n2,1\n").unwrap();
    let linked = [
        format!("os.rmdir('final'); os.symlink({foreign:?}, 'final')"),
        format!("os.symlink({:?}, 'final/submission.csv')", foreign.join("submission.csv")),
    ];
    for attack in &linked {
        let outcome = target.check(attack, Ends::Cleaned("behind a link")).await;
        assert_eq!(outcome.submission, None, "{attack}");
        assert!(foreign.join("submission.csv").exists(), "{attack}");
    }
    // The user's terminals.
    let terminals = "for path in ('/dev/ptmx', '/dev/tty', *(f'/dev/pts/{n}' for n in range(100))):\n    try: os.open(path, os.O_RDWR | os.O_NOCTTY)\n    \
                     except OSError: continue\n    print('open', path)\nprint('done')";
    target.check(terminals, Ends::Nothing("done\n")).await;
    // The home of the program's user, whatever HOME says.
    let home = "import pwd\nprint(os.listdir(pwd.getpwuid(os.getuid()).pw_dir))";
    target.check(home, Ends::Refused("Error: [Errno", None)).await;
}

#[tokio::test]
async fn who_is_outside_is_out_of_reach() {
    let target = Target::new().await;
    let hidden = async |attack: &str| {
        target.check(attack, Ends::Refused("Error: [Errno", None)).await;
    };
    hidden("print(open('/proc/$HOST/environ').read())").await;
    hidden("os.kill($HOST, 9)").await;
    for address in ["$SOCKET", "'\\0$NAME'"] {
        hidden(&format!("socket.socket(socket.AF_UNIX).connect({address})")).await;
    }
    hidden("os.kill(os.getppid(), 9)").await;
    let refused = async |attack: &str| {
        target.check(attack, Ends::Refused("Error", Some("no network access"))).await;
    };
    refused("socket.create_connection(('127.0.0.1', $TCP), 5)").await;
    refused("socket.create_connection(('192.0.2.1', 80), 5)").await;
    let by_name = "socket.create_connection(('example.org', 80), 5)";
    target.check(by_name, Ends::Refused("gaierror", Some("no network access"))).await;
    let udp = "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', $UDP))";
    target.check(udp, Ends::Nothing("")).await;
}

/// An earlier script must not affect later scripts of the same worker.
#[tokio::test]
async fn a_script_leaves_its_worker_alone() {
    let mut target = Target::new().await;
    let descriptors = "for n in range(3, 256):\n    try: os.write(n, b'x' * 100); os.ftruncate(n, 0)\n    except OSError: pass\nprint(os.listdir('/proc/self/fd'))";
    // The last descriptor is that of the listing itself; 3 is the pulse.
    target.check(descriptors, Ends::Nothing("['0', '1', '2', '3', '4']\n")).await;
    let all = "for n in os.listdir('/proc'):\n    if n.isdigit() and int(n) != os.getpid():\n        try: os.kill(int(n), 9)\n        except OSError: pass\nprint('tried')";
    // The guard is the first of its processes: it cannot be killed from inside.
    target.check(all, Ends::Nothing("tried\n")).await;
    let lying = "open('/dev/shm/left', 'w').write('x')\nprint(os.listdir('/dev/shm'))";
    target.check(lying, Ends::Nothing("['left']\n")).await;
    let queue = "import ctypes\nc = ctypes.CDLL(None)\nprint(c.msgget(77, 0) , c.msgget(77, 0o1666) >= 0)";
    target.check(queue, Ends::Nothing("-1 True\n")).await;
    let one = target.world.warm_runner(&["json"]).await;
    // A script must not see what an earlier script of the same worker did.
    for _ in 0..2 {
        target.check_with(&one, lying, Ends::Nothing("['left']\n"), "all is well, warm\n").await;
        target.check_with(&one, queue, Ends::Nothing("-1 True\n"), "all is well, warm\n").await;
        let module = "import json\nprint(hasattr(json, 'spoilt'))\njson.spoilt = 1";
        target.check_with(&one, module, Ends::Nothing("False\n"), "all is well, warm\n").await;
    }
    // Without a process namespace, scripts can reach the guard. Affected scripts run again, cold.
    target.world.setup.isolation.layers = Layers::none();
    let runner = target.world.warm_runner(&[]).await;
    let kill = format!("if {IS_WARM}: os.kill(os.getppid(), 9)\nprint('alive')");
    target.check_with(&runner, &kill, Ends::Nothing("alive\n"), "all is well\n").await;
}

#[tokio::test]
async fn honest_scripts_find_what_they_need() {
    let mut target = Target::new().await;
    target.world.setup.isolation.disk_limit_mib = None;
    let store = target.world.folder.path().join("store");
    fs::create_dir(&store).unwrap();
    fs::write(store.join("far.csv"), "far away").unwrap();
    symlink(&store, target.world.folder.path().join("alias")).unwrap();
    symlink("../alias/far.csv", target.world.setup.data_dir.join("far.csv")).unwrap();
    let check = async |script, printed| {
        target.check(script, Ends::Nothing(printed)).await;
    };
    let loopback = "s = socket.create_server(('127.0.0.1', 0))\nc = socket.create_connection(s.getsockname())\nprint('heard')";
    check(loopback, "heard\n").await;
    check("print(open('input/far.csv').read())", "far away\n").await;
    check(
        "open(os.path.expanduser('~/.cache'), 'w').write('x')\nprint(os.getuid() == os.stat('.').st_uid)",
        "True\n",
    )
    .await;
    let pool = "import multiprocessing as mp\ndef f(x): return x * x\nif __name__ == '__main__':\n    for how in ('fork', 'spawn', 'forkserver'):\n        with mp.get_context(how).Pool(2) as p: print(p.map(f, [2, 3]))";
    check(pool, "[4, 9]\n[4, 9]\n[4, 9]\n").await;
    let shared = "from multiprocessing import shared_memory as m\ns = m.SharedMemory(create=True, size=100 << 20)\ns.buf[0] = 1\nprint(len(s.buf) >> 20)\ns.close()\ns.unlink()";
    check(shared, "100\n").await;
    check(
        "print(subprocess.run(['ls', 'input'], capture_output=True, text=True).stdout.split())",
        "['big', 'far.csv', 'train.csv']\n",
    )
    .await;
}

/// CUDA names its threads by files in `/proc`, and gives up if it cannot. Nothing else opens with that: neither the
/// machine's settings nor other processes.
#[tokio::test]
async fn threads_have_names_and_the_machine_keeps_its_settings() {
    let mut target = Target::new().await;
    let all = Layers::probed().clone();
    let no_processes = Layers { processes: false, ..all.clone() };
    let only_landlock = Layers { landlock: all.landlock, limits: true, ..Layers::none() };
    let gpu = vec![Gpu { index: 0, name: String::new(), memory_mib: 1 }];
    // Landlock alone cannot close settings, so threads have no names where nothing else closes them.
    let is_powerful = fs::OpenOptions::new().write(true).open("/proc/sys/kernel/core_pattern").is_ok();
    let named = "own named\nthread named\nchild named\nprogram named\n";
    let check = async |target: &mut Target, layers: &Layers, gpus: &[Gpu], expected: &'static str| {
        target.world.setup.isolation.layers = layers.clone();
        target.world.setup.machine.gpus = gpus.to_vec();
        target.check(include_str!("thread_names.py"), Ends::Nothing(expected)).await;
        target.check(include_str!("settings.py"), Ends::Nothing("nothing opened\n")).await;
    };
    check(&mut target, &all, &[], named).await;
    if all.shared_memory {
        check(&mut target, &no_processes, &gpu, named).await;
        check(&mut target, &no_processes, &[], "").await;
    }
    check(&mut target, &only_landlock, &gpu, if is_powerful { "" } else { named }).await;
    if all.landlock > 0 {
        check(&mut target, &only_landlock, &[], "").await;
    }
}

/// Programs that do not know TMPDIR, such as Java, write to `/tmp`. It is theirs alone, unless the run itself lies there.
#[tokio::test]
async fn every_script_has_its_own_tmp() {
    let [tmp, other] = ["/tmp", "/var/tmp"].map(Path::new);
    let outside = tempfile::Builder::new().prefix("mle-star-test-").tempfile_in(tmp).unwrap();
    let script = format!(
        "import os\ntry:\n    open('/tmp/x', 'w').write('x')\n    print(os.path.getsize('/tmp/x'), os.path.exists({:?}))\nexcept OSError: print('closed')",
        outside.path()
    );
    let check = async |parent: &Path, layers: &Layers, expected: &str| {
        let mut world = World::below(parent).await;
        world.setup.isolation.layers = layers.clone();
        for runner in [world.runner(), world.warm_runner(&[]).await] {
            // The second finds nothing of the first.
            for _ in 0..2 {
                let outcome = runner.run(&request(&script, Duration::from_secs(60))).await.unwrap();
                assert_eq!(outcome.stdout.text(), expected, "{outcome:?}");
                assert!(!tmp.join("x").exists());
            }
        }
    };
    let all = Layers::probed().clone();
    // Cargo names folders of its target in this variable, and scripts need what it names.
    let is_needed = std::env::var("LD_LIBRARY_PATH").is_ok_and(|paths| paths.contains("/tmp/"));
    if all.shared_memory && !is_needed {
        check(other, &all, "1 False\n").await;
    }
    if all.shared_memory {
        check(tmp, &all, "closed\n").await;
    }
    if all.landlock > 0 {
        check(other, &Layers { landlock: all.landlock, limits: true, ..Layers::none() }, "closed\n").await;
    }
}

#[tokio::test]
async fn with_the_network_on_it_is_there() {
    let mut target = Target::new().await;
    let writable = target.world.setup.isolation.writable.clone();
    target.world.setup.isolation = Isolation { writable, ..Isolation::new(Network::Allowed) };
    let connect = target
        .script(Path::new("/dev/null"), "socket.create_connection(('127.0.0.1', $TCP), 5)\nprint('there')");
    let outcome = target.world.run(&connect).await;
    assert_eq!(outcome.stdout.text(), "there\n", "{outcome:?}");
    assert!(target.tcp.accept().is_ok());
    // Other sockets stay closed.
    let other = "socket.socket(socket.AF_UNIX).connect($SOCKET)";
    target.check(other, Ends::Refused("Error: [Errno", None)).await;
}

/// Each layer enforces what is documented, even if the other one is missing.
#[tokio::test]
async fn each_layer_holds_by_itself() {
    let mut target = Target::new().await;
    let (files, network) = (Some("only in its own folder"), Some("no network access"));
    // With the Landlock version that supports it.
    let attacks = [
        (1, "open($JOURNAL, 'a').write('x')", files),
        (1, "open($DATA, 'a').write('x')", files),
        (1, "print(open($SECRET).read())", files),
        (6, "os.kill($HOST, 9)", None),
        (4, "socket.create_connection(('127.0.0.1', $TCP), 5)", network),
        (6, "socket.socket(socket.AF_UNIX).connect('\\0$NAME')", None),
    ];
    let all = Layers::probed().clone();
    let none = Layers { limits: true, ..Layers::none() };
    let namespaces = Layers { landlock: 0, ..all.clone() };
    for layers in [Layers { landlock: all.landlock, ..none }, namespaces] {
        let has_namespaces = layers.processes;
        target.world.setup.isolation.layers = layers;
        for (_, attack, words) in
            attacks.into_iter().filter(|(since, ..)| has_namespaces || *since <= all.landlock)
        {
            target.check(attack, Ends::Refused("Error: [Errno", words)).await;
        }
    }
    target
        .check("socket.socket(socket.AF_UNIX).connect($SOCKET)", Ends::Refused("Error: [Errno", None))
        .await;
}

/// Without a process namespace, scripts can reach the program, whose watches need open files.
#[tokio::test]
async fn a_script_that_limits_the_program_is_ended() {
    let mut target = Target::new().await;
    target.world.setup.isolation.layers = Layers::none();
    let limit = "import resource\nn = resource.RLIMIT_NOFILE\nnow, most = resource.prlimit($HOST, n)\nresource.prlimit($HOST, n, (now - 1, most))\ntime.sleep(600)";
    let before = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    target.check(limit, Ends::Stopped("open-file limit was lowered")).await;
    assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), before);
}

/// No layer requires root or is weaker without it.
#[test]
fn as_root_who_is_not_root_is_as_safe() {
    needs!(Root);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let (own, program) = (std::env::current_exe().unwrap(), folder.path().join("tests"));
    fs::hard_link(&own, &program).or_else(|_| fs::copy(&own, &program).map(drop)).unwrap();
    let tests = [
        "attacks::what_is_outside_is_out_of_reach",
        "attacks::who_is_outside_is_out_of_reach",
        "attacks::a_script_leaves_its_worker_alone",
        "attacks::honest_scripts_find_what_they_need",
        "attacks::threads_have_names_and_the_machine_keeps_its_settings",
        "attacks::fork_bombs_are_stopped_within_moments",
        "warm::a_script_sees_what_it_sees_when_started_cold",
    ];
    for test in tests {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
        command.args(["--exact", &format!("scripts::{test}")]);
        command
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", folder.path())
            .env("HOME", "/nonexistent");
        let output = command.current_dir(folder.path()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("1 passed"), "{said}{}", String::from_utf8_lossy(&output.stderr));
    }
}
