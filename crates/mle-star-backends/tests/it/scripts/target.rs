//! Targets of attacks, and their required outcomes.

use std::fs;
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::time::Duration;

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::ScriptBackend;
use mle_star_domain::effects::{ScriptEnd, ScriptOutcome};

use super::world::{IS_WARM, Pulse, World, request};

const SECRET: &str = "a planted secret";

/// The required outcome of an attack.
#[derive(Clone, Copy)]
pub enum Ends {
    /// It is killed, with a note that contains this.
    Stopped(&'static str),
    /// It ends with its own exception. The traceback contains the first text, and a note the second, if any.
    Refused(&'static str, Option<&'static str>),
    /// It has no effect and prints this.
    Nothing(&'static str),
    /// It ends by itself, with a note that contains this.
    Cleaned(&'static str),
    /// It has no effect, or ends with an exception and a note that contains this, depending on timing.
    Contained(&'static str),
}

/// The world of the attacks: small limits, a journal, a secret, listeners of the host.
pub struct Target {
    pub world: World,
    pub tcp: TcpListener,
    udp: UdpSocket,
    /// Sockets with a path, and with an abstract name.
    local: [UnixListener; 2],
}

impl Target {
    pub async fn new() -> Self {
        let mut world = World::new().await;
        world.setup.memory_limit_mib = Some(300);
        world.setup.machine.memory_mib = 4000;
        world.setup.isolation.disk_limit_mib = Some(50);
        world.setup.isolation.files_limit = 2_000;
        world.setup.isolation.processes_limit = 100;
        fs::create_dir(&world.setup.run_folder).unwrap();
        fs::write(world.file("journal.db"), SECRET).unwrap();
        fs::write(world.folder.path().join("secret"), SECRET).unwrap();
        fs::write(world.setup.data_dir.join("train.csv"), "id,y\n1,0\n").unwrap();
        // Too large to be copied, so scripts can reach the data itself.
        fs::File::create(world.setup.data_dir.join("big")).unwrap().set_len(40 << 20).unwrap();
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        let name = SocketAddr::from_abstract_name(abstract_name(&world)).unwrap();
        let local = [
            UnixListener::bind(world.folder.path().join("socket")).unwrap(),
            UnixListener::bind_addr(&name).unwrap(),
        ];
        local.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        Self { world, tcp, udp, local }
    }

    /// Replaces names in the attack's text by values of this world.
    pub fn script(&self, pulse: &Path, attack: &str) -> String {
        let world = &self.world;
        let names = [
            ("JOURNAL", format!("{:?}", world.file("journal.db"))),
            ("DATA", format!("{:?}", world.setup.data_dir.join("train.csv"))),
            ("SECRET", format!("{:?}", world.folder.path().join("secret"))),
            ("SOCKET", format!("{:?}", world.folder.path().join("socket"))),
            ("NAME", abstract_name(world)),
            ("HOST", std::process::id().to_string()),
            ("TCP", self.tcp.local_addr().unwrap().port().to_string()),
            ("UDP", self.udp.local_addr().unwrap().port().to_string()),
        ];
        let start =
            format!("import os, signal, socket, subprocess, sys, time\nos.open({pulse:?}, os.O_WRONLY)\n");
        names
            .iter()
            .fold(format!("{start}{attack}"), |text, (name, value)| text.replace(&format!("${name}"), value))
    }

    fn is_whole(&self) -> bool {
        let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
        let world = &self.world;
        read(&world.file("journal.db")) == SECRET
            && read(&world.folder.path().join("secret")) == SECRET
            && read(&world.setup.data_dir.join("train.csv")) == "id,y\n1,0\n"
            && self.tcp.accept().is_err()
            && self.udp.recv(&mut [0; 8]).is_err()
            && self.local.iter().all(|listener| listener.accept().is_err())
    }

    /// The attack of a script that starts cold, and of one that a worker forks. Returns the first outcome.
    pub async fn check(&self, attack: &str, expected: Ends) -> ScriptOutcome {
        self.check_warm(attack, expected).await;
        self.check_with(&self.world.runner(), attack, expected, "all is well\n").await
    }

    pub async fn check_warm(&self, attack: &str, expected: Ends) {
        let runner = self.world.warm_runner(&[]).await;
        self.check_with(&runner, attack, expected, "all is well, warm\n").await;
    }

    pub async fn check_with(
        &self,
        runner: &ScriptBackend,
        attack: &str,
        expected: Ends,
        next: &str,
    ) -> ScriptOutcome {
        let mut pulse = Pulse::new(self.world.folder.path());
        let script = self.script(&pulse.path, attack);
        let outcome = runner.run(&request(&script, Duration::from_secs(60))).await.unwrap();
        assert!(
            pulse.is_dead_within(Duration::from_secs(20)),
            "{attack}: a process survived, or none began: {outcome:?}"
        );
        fs::remove_file(&pulse.path).unwrap();
        assert_ended(&outcome, attack, expected);
        assert!(!outcome.stdout.text().contains(SECRET), "{attack}: {outcome:?}");
        assert!(self.is_whole(), "{attack}: something outside changed");
        assert_eq!(self.world.working(), [""; 0], "{attack}");
        if next.contains("warm") {
            runner.warmed_up(0).await;
        }
        let after = format!("print('all is well, warm' if {IS_WARM} else 'all is well')");
        let after = runner.run(&request(&after, Duration::from_secs(60))).await.unwrap();
        assert_eq!((after.stdout.text().as_str(), after.notes.len()), (next, 0), "after {attack}");
        outcome
    }
}

/// This is not a path, although it looks like one.
fn abstract_name(world: &World) -> String {
    world.folder.path().display().to_string()
}

fn assert_ended(outcome: &ScriptOutcome, attack: &str, expected: Ends) {
    let notes = outcome.notes.join("\n");
    let traceback = outcome.traceback.clone().unwrap_or_default();
    let holds = match expected {
        Ends::Stopped(note) => outcome.end == (ScriptEnd::Signalled { signal: 9 }) && notes.contains(note),
        Ends::Refused(exception, note) => {
            traceback.contains(exception) && note.is_none_or(|note| notes.contains(note))
        }
        Ends::Nothing(printed) => outcome.stdout.text() == printed && !outcome.is_error(),
        Ends::Cleaned(note) => !outcome.is_error() && notes.contains(note),
        Ends::Contained(note) => !outcome.is_error() || notes.contains(note),
    };
    assert!(holds, "{attack}: {outcome:#?}");
}
