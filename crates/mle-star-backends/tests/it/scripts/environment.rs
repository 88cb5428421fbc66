//! Finds and creates the Python environment, with a shell script instead of Python.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use mle_star_backends::script::environment::{
    Environment, EnvironmentChoice, Origin, made_environment, python_environment, requirements_txt,
};
use mle_star_needs::needs;

use super::world::Pulse;

/// Answers like an interpreter, creates environments from itself, and records each installation. While the file
/// `block` exists, an installation reports to the pipe `pulse` and blocks.
const FAKE_PYTHON: &str = r#"#!/bin/sh
here=@HERE@
case "$*" in
*sysconfig*) echo "[\"$0\", [$(/bin/cat "$here/version")], \"linux-fake\"]" ;;
*importlib.metadata*) echo '[["numpy", "2.0"], ["pandas", "3.0"]]' ;;
*--target*) echo "ERROR: no uv here"; exit 1 ;;
*venv*) /bin/mkdir -p venv/bin && /bin/cp "$0" venv/bin/python ;;
*install*)
    /bin/echo install >> "$here/installed"
    if [ -e "$here/block" ]; then /bin/echo ready > "$here/shared/pulse"; exec /bin/sleep 600 > "$here/shared/pulse"; fi
    if [ -e "$here/broken" ]; then echo "ERROR: no such host"; echo "more words"; exit 1; fi ;;
*) exit 9 ;;
esac
"#;

struct Fake {
    folder: tempfile::TempDir,
}

impl Fake {
    fn new(version: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let fake = Self { folder };
        fs::create_dir(fake.path("bin")).unwrap();
        fs::write(fake.path("version"), version).unwrap();
        let script = FAKE_PYTHON.replace("@HERE@", &fake.path("").display().to_string());
        fs::write(fake.path("bin/python3"), script).unwrap();
        fs::set_permissions(fake.path("bin/python3"), fs::Permissions::from_mode(0o755)).unwrap();
        fake
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a separate process that requests the program's own environment.
    fn start(&self) -> Child {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([
            "--exact",
            "scripts::environment::program_environment_maker",
            "--ignored",
            "--nocapture",
        ]);
        command.env("PATH", self.path("bin")).env("MLE_STAR_CACHE", self.path("cache"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
    }

    /// The result of such a process: the environment or the error.
    fn found(maker: Child) -> Result<Environment, String> {
        let output = maker.wait_with_output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let json = stdout.lines().find_map(|line| line.split_once("found: ")).expect(&stdout).1;
        serde_json::from_str(json).unwrap()
    }

    fn installations(&self) -> usize {
        fs::read_to_string(self.path("installed")).unwrap_or_default().lines().count()
    }
}

/// Creates the environment and prints the result. Other tests start this as a separate process.
#[tokio::test]
#[ignore = "other tests run it as a separate program"]
async fn program_environment_maker() {
    let found = python_environment(EnvironmentChoice::Own, &|line| println!("progress: {line}")).await;
    assert_eq!(made_environment().await.as_ref(), found.as_ref().ok());
    let found = found.map_err(|trouble| format!("{}; {}", trouble.message, trouble.hint));
    println!("found: {}", serde_json::to_string(&found).unwrap());
}

#[test]
fn it_is_made_once_for_all_processes() {
    let fake = Fake::new("3, 12, 1");
    let makers: Vec<Child> = (0..4).map(|_| fake.start()).collect();
    let found: Vec<Environment> = makers.into_iter().map(|maker| Fake::found(maker).unwrap()).collect();
    assert!(found.iter().all(|environment| *environment == found[0]));
    assert_eq!((found[0].origin, found[0].version.as_str()), (Origin::Own, "3.12.1"));
    assert_eq!(requirements_txt(&found[0]), "# Python 3.12.1\nnumpy==2.0\npandas==3.0\n");
    // What the data plane needs, then the rest.
    assert_eq!(fake.installations(), 2);

    // Another Python has another environment. One whose interpreter is missing is created again.
    fs::write(fake.path("version"), "3, 12, 2").unwrap();
    let newer = Fake::found(fake.start()).unwrap();
    assert!(newer.python != found[0].python && fake.installations() == 4);
    fs::remove_file(&newer.python).unwrap();
    assert_eq!((Fake::found(fake.start()), fake.installations()), (Ok(newer), 6));
}

#[test]
fn a_build_that_was_killed_does_not_count_and_leaves_no_process() {
    let fake = Fake::new("3, 11, 0");
    let mut pulse = Pulse::new(fake.folder.path());
    fs::write(fake.path("block"), "").unwrap();
    let mut maker = fake.start();
    pulse.wait_for_life();
    maker.kill().unwrap();
    assert!(pulse.is_dead_within(std::time::Duration::from_secs(20)), "the installer lives on");
    assert!(!maker.wait().unwrap().success());
    fs::remove_file(fake.path("block")).unwrap();
    let environment = Fake::found(fake.start()).unwrap();
    assert!(environment.python.exists());
    assert_eq!(fake.installations(), 3);
}

#[test]
fn what_cannot_be_made_is_said() {
    let check = |fake: &Fake, expected: &[&str]| {
        let trouble = Fake::found(fake.start()).unwrap_err();
        assert!(expected.iter().all(|part| trouble.contains(part)), "{trouble:?} does not say {expected:?}");
    };
    let fake = Fake::new("3, 9, 18");
    check(&fake, &["no Python on PATH is new enough: python3 is 3.9.18", "install Python 3.11 or newer"]);
    let fake = Fake::new("3, 11, 0");
    fs::write(fake.path("broken"), "").unwrap();
    check(&fake, &["cannot install the Python libraries: ERROR: no such host", "check the network"]);
    let fake = Fake::new("3, 11, 0");
    fs::write(fake.path("cache"), "a file").unwrap();
    check(&fake, &["cannot use the cache", "MLE_STAR_CACHE"]);
}

/// The maker with real Python, without uv, and with other settings.
fn real_maker(folder: &Path, closed: bool, settings: &[(&str, &str)]) -> Result<Environment, String> {
    fs::create_dir_all(folder.join("bin")).unwrap();
    let python =
        Command::new("python3").args(["-c", "import sys; print(sys._base_executable)"]).output().unwrap();
    let python = String::from_utf8(python.stdout).unwrap();
    std::os::unix::fs::symlink(python.trim(), folder.join("bin/python3")).unwrap();
    let mut command = Command::new(if closed { "/usr/bin/unshare" } else { "/usr/bin/env" });
    command.args(if closed { ["--map-root-user", "--net"].as_slice() } else { &[] });
    command.arg(env::current_exe().unwrap());
    command.args(["--exact", "scripts::environment::program_environment_maker", "--ignored", "--nocapture"]);
    // What a user's own settings of pip say must not decide a test.
    command.env_clear().env("HOME", folder).env("PIP_CONFIG_FILE", "/dev/null").env("PIP_RETRIES", "1");
    command.env("PATH", folder.join("bin")).env("MLE_STAR_CACHE", folder.join("cache"));
    command.envs(settings.iter().copied());
    Fake::found(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap())
}

/// A server that answers everything with 403 and hands on the first lines of requests.
fn refusing_server() -> (String, std::sync::mpsc::Receiver<String>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, asked) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = String::new();
            BufReader::new(&stream).read_line(&mut head).unwrap_or_default();
            let _ =
                stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            if sender.send(head.trim().to_owned()).is_err() {
                break;
            }
        }
    });
    (address, asked)
}

#[test]
fn without_a_network_it_is_said_at_once() {
    needs!(ClosedNetwork);
    let folder = tempfile::tempdir().unwrap();
    let trouble = real_maker(folder.path(), true, &[]).unwrap_err();
    let expected =
        "cannot install the Python libraries: the package registry cannot be reached; connect this machine";
    assert!(trouble.starts_with(expected), "{trouble}");
    assert!(trouble.contains("PIP_INDEX_URL") && trouble.contains("`python`"), "{trouble}");
    assert!(!folder.path().join("cache/python").join("venv").exists());
}

#[test]
fn requests_go_through_the_proxy_and_its_refusal_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let (proxy, asked) = refusing_server();
    let settings = [("HTTPS_PROXY", proxy.as_str()), ("PIP_INDEX_URL", "https://registry.test/simple")];
    let trouble = real_maker(folder.path(), false, &settings).unwrap_err();
    assert_eq!(asked.try_iter().next().as_deref(), Some("CONNECT registry.test:443 HTTP/1.0"), "{trouble}");
    assert!(trouble.contains("the proxy cannot be reached, or does not let pip and uv through"), "{trouble}");
    assert!(trouble.contains("HTTPS_PROXY"), "{trouble}");
}

#[tokio::test]
async fn a_given_interpreter_is_used_as_it_is() {
    let given = async |python: &Path| {
        let choice = EnvironmentChoice::Given(python.to_owned());
        python_environment(choice, &|line| panic!("nothing is made: {line}")).await
    };
    let found = given(Path::new("python3")).await.unwrap();
    assert!(found.python.is_absolute() && found.python.exists() && found.origin == Origin::Given);
    let refused = async |python: &Path, expected: &str| {
        let message = given(python).await.unwrap_err().message;
        assert!(message.contains(expected), "{message:?} does not say {expected:?}");
    };
    refused(Path::new("/no/such/python"), "there is no such file").await;
    refused(Path::new("/bin/true"), "it does not answer as Python does").await;
    let old = Fake::new("3, 9, 2");
    refused(&old.path("bin/python3"), "is Python 3.9.2, too old").await;
}
