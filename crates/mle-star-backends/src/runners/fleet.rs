//! The runners of a process: started when scripts wait, given back when there is nothing to do, replaced when they are
//! lost.

mod entry_history;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use mle_star::event::{RunnerState, RunnerStatus};
use mle_star::slots::Slots;
use mle_star_domain::config::Switch;
use mle_star_domain::slot::Host;
use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::Machine;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval, sleep, timeout};

use self::entry_history::FleetEntry;
use super::connection::{Connection, DiskFindings, Hope, NotStarted, Received, RemoteJob, Source};
use super::entry::RunnerEntry;
use super::protocol::{Hello, RunSetup};
use super::serve::same_version;
use super::wire::lock;
use crate::script::environment::{Environment, Origin};
use crate::script::executor::{Execution, Job};

/// How often to look whether runners are needed.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// How long runners may take to end.
const END_TIMEOUT: Duration = Duration::from_secs(5);
/// The capacity of the channel of state changes; a slower reader misses the oldest.
const CHANNEL_CAPACITY: usize = 1024;

/// The runners of a process. Clones share them.
#[derive(Clone, Debug)]
pub struct Fleet(Arc<Inner>);

struct Inner {
    slots: Slots,
    entries: Mutex<Vec<FleetEntry>>,
    /// The runners that can be given scripts, by the host of their slots.
    ready: Mutex<HashMap<Host, Arc<Connection>>>,
    /// By the number of the run.
    runs: Mutex<BTreeMap<u64, RunSetup>>,
    next_run: AtomicU64,
    /// The last status of each runner, by its name.
    states: Mutex<BTreeMap<String, RunnerStatus>>,
    changes: broadcast::Sender<RunnerStatus>,
    /// Set once no script can run anywhere (this machine runs none and no runner can be reached): the error to report.
    stranded: watch::Sender<Option<Trouble>>,
    /// Whether all runners are to end.
    ends: watch::Sender<bool>,
    tasks: Mutex<JoinSet<()>>,
}

/// A run whose scripts can go to runners. Dropping it tells them that it is over.
#[derive(Debug)]
pub struct RunOnFleet {
    fleet: Weak<Inner>,
    run: u64,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl Fleet {
    /// Runners of these entries, which add to `slots`. Requires a runtime.
    pub fn new(entries: Vec<RunnerEntry>, slots: Slots) -> Self {
        let expected = entries.iter().map(|entry| entry.expected_slots() * entry.count as usize).sum();
        slots.expect(expected);
        let inner = Arc::new(Inner {
            slots,
            entries: Mutex::new(entries.into_iter().map(FleetEntry::new).collect()),
            ready: Mutex::default(),
            runs: Mutex::default(),
            next_run: AtomicU64::new(0),
            states: Mutex::default(),
            changes: broadcast::channel(CHANNEL_CAPACITY).0,
            stranded: watch::Sender::new(None),
            ends: watch::Sender::new(false),
            tasks: Mutex::default(),
        });
        lock(&inner.tasks).spawn(manage(Arc::downgrade(&inner)));
        Self(inner)
    }

    /// A run whose scripts may go to these runners.
    pub fn register(&self, setup: RunSetup) -> RunOnFleet {
        let run = self.0.next_run.fetch_add(1, Ordering::Relaxed);
        lock(&self.0.runs).insert(run, RunSetup { run, ..setup });
        RunOnFleet { fleet: Arc::downgrade(&self.0), run }
    }

    /// The runners now, and all changes from now on.
    pub fn watch(&self) -> (Vec<RunnerStatus>, broadcast::Receiver<RunnerStatus>) {
        let changes = self.0.changes.subscribe();
        (lock(&self.0.states).values().cloned().collect(), changes)
    }

    /// The machine of the first runner that answers within this time; one is started for it.
    pub async fn first_machine(&self, limit: Duration) -> Option<Machine> {
        let mut changes = self.0.changes.subscribe();
        self.0.start_needed(1);
        let ready = async {
            loop {
                let ready = lock(&self.0.ready).values().next().map(|one| one.hello.machine.clone());
                if ready.is_some() {
                    return ready;
                }
                // A reader that lags looks again.
                if matches!(changes.recv().await, Err(broadcast::error::RecvError::Closed)) {
                    return None;
                }
            }
        };
        timeout(limit, ready).await.ok().flatten()
    }

    /// Waits until no script can run anywhere: this machine runs none, and no runner can be reached.
    pub async fn stranded(&self) -> Trouble {
        let mut stranded = self.0.stranded.subscribe();
        let trouble = stranded.wait_for(Option::is_some).await.ok().and_then(|trouble| trouble.clone());
        match trouble {
            Some(trouble) => trouble,
            None => std::future::pending().await,
        }
    }

    /// Ends all runners, and the commands of those that have not answered yet.
    pub async fn end(&self) {
        let mut tasks = {
            let mut tasks = lock(&self.0.tasks);
            self.0.ends.send_replace(true);
            std::mem::take(&mut *tasks)
        };
        let _ = timeout(END_TIMEOUT, async { while tasks.join_next().await.is_some() {} }).await;
    }
}

/// What `mle-star doctor` measured on a runner that it started only for that.
#[derive(Debug)]
pub struct RunnerMeasurement {
    /// What it told about itself.
    pub hello: Hello,
    /// From the start of its command to its answer.
    pub started_in: Duration,
    /// The median time from a message without content to its answer.
    pub round_trip: Duration,
    /// Bytes that can be sent to it per second.
    pub bytes_per_second: f64,
    /// Whether scripts can run there.
    pub python: PythonStatus,
}

/// What is known of the interpreter for scripts on a runner.
#[derive(Debug)]
pub enum PythonStatus {
    /// Not known before the first run, which makes an environment.
    Later,
    /// It starts. Whether its versions are those of this machine is known once this machine has an environment.
    Starts,
    /// Scripts can run with it.
    Works,
    /// Scripts cannot run, and why.
    Fails(String),
}

/// Starts a runner of an entry, measures it and ends it. If the interpreter for its scripts is named, by the entry or by
/// `environment`, it is compared with that of this machine; one that the first run would make is not made. The start ends
/// early once it is `unwanted`.
///
/// # Errors
/// Why there is none.
pub async fn probe(
    entry: &RunnerEntry,
    environment: Option<&Environment>,
    unwanted: impl Future<Output = ()>,
) -> Result<RunnerMeasurement, String> {
    /// In bytes.
    const LARGE: usize = 1 << 20;
    /// How long the speed is measured.
    const MEASURE_TIMEOUT: Duration = Duration::from_secs(5);
    let began = Instant::now();
    let (name, limit) = (format!("{}-probe", entry.name), entry.start_limit());
    let argv = entry.argv(&name);
    let connection = Connection::start(&name, &argv, limit, unwanted).await.map_err(|not| not.reason)?;
    let started_in = began.elapsed();
    let mut trips = Vec::new();
    for _ in 0..21 {
        trips.push(connection.ping(0).await.ok_or_else(|| connection.loss().unwrap_or_default())?);
    }
    trips.sort();
    let (began, mut bytes) = (Instant::now(), 0);
    // A slow connection is measured with less.
    while bytes < 16 * LARGE && began.elapsed() < MEASURE_TIMEOUT {
        connection.ping(LARGE).await.ok_or_else(|| connection.loss().unwrap_or_default())?;
        bytes += LARGE;
    }
    let bytes_per_second = bytes as f64 / began.elapsed().as_secs_f64();
    let is_named = entry.python.is_some() || environment.is_some_and(|one| one.origin == Origin::Given);
    let python = match is_named {
        true => {
            let setup = probing(entry, environment, &connection.hello);
            let is_compared = environment.is_some() || entry.any_python;
            match connection.open(&setup).await {
                Ok(()) if is_compared => PythonStatus::Works,
                Ok(()) => PythonStatus::Starts,
                Err(not_opened) => PythonStatus::Fails(not_opened.reason),
            }
        }
        false => {
            unsuitable(entry, environment, &connection.hello).map_or(PythonStatus::Later, PythonStatus::Fails)
        }
    };
    connection.say_goodbye();
    let _ = timeout(END_TIMEOUT, connection.wait_until_gone()).await;
    let hello = connection.hello.clone();
    Ok(RunnerMeasurement { hello, started_in, round_trip: trips[10], bytes_per_second, python })
}

/// Why scripts could not run with the environment that the first run makes with the Python on the runner's PATH.
fn unsuitable(entry: &RunnerEntry, environment: Option<&Environment>, hello: &Hello) -> Option<String> {
    let Some(there) = &hello.python else {
        return Some("it has no Python 3.11 or newer on its PATH".to_owned());
    };
    let here = environment.filter(|_| !entry.any_python)?;
    same_version(&here.version, there).err().map(|trouble| trouble.message)
}

/// The setup of a run that only tries the interpreter for scripts.
fn probing(entry: &RunnerEntry, environment: Option<&Environment>, hello: &Hello) -> RunSetup {
    let setup = RunSetup {
        run: 0,
        environment: environment.cloned().unwrap_or_default(),
        any_python: false,
        slots: 1,
        memory_limit_mib: None,
        network: Switch::Off,
        warm_start: false,
        closed: Vec::new(),
    };
    let setup = setup_for(setup, entry, hello);
    // There may be nothing to compare it with.
    RunSetup { any_python: setup.any_python || environment.is_none(), ..setup }
}

/// The setup of a run with what the entry changes on its runners: interpreter, slots and version check.
fn setup_for(setup: RunSetup, entry: &RunnerEntry, hello: &Hello) -> RunSetup {
    let mut setup = RunSetup { any_python: entry.any_python, slots: slots_of(entry, hello), ..setup };
    if let Some(python) = &entry.python {
        setup.environment.origin = Origin::Given;
        setup.environment.python.clone_from(python);
    }
    setup
}

impl RunOnFleet {
    /// Runs a script on the runner with this slot.
    ///
    /// # Errors
    /// Why the runner was lost; or why not all data reached it, if [`Source::unreadable`] says so.
    pub(crate) async fn run(
        &self,
        host: Host,
        job: &Job,
        source: &Arc<Source>,
        outputs: &[(&'static str, u64)],
        (logs, folder): ([PathBuf; 2], PathBuf),
    ) -> Result<(Box<Execution>, Received), String> {
        let fleet = self.fleet.upgrade().ok_or("the program ends")?;
        let connection = lock(&fleet.ready).get(&host).cloned().ok_or("its runner is gone")?;
        let remote = RemoteJob { run: self.run, job, source, outputs, logs, folder };
        fleet.run_on(&connection, &remote).await.map_err(|reason| {
            if source.unreadable().is_some() {
                return reason;
            }
            let lost = format!("runner {} was lost: {reason}", connection.name);
            // It may be full, or broken in another way. The script's next try is not to get its slots.
            fleet.slots.remove(host);
            connection.give_up(reason);
            lost
        })
    }
}

impl Drop for RunOnFleet {
    fn drop(&mut self) {
        let Some(fleet) = self.fleet.upgrade() else { return };
        lock(&fleet.runs).remove(&self.run);
        lock(&fleet.ready).values().for_each(|connection| connection.close(self.run));
    }
}

/// Starts runners when scripts wait for them.
async fn manage(fleet: Weak<Inner>) {
    let Some((mut waiting, mut ends)) =
        fleet.upgrade().map(|fleet| (fleet.slots.waiting(), fleet.ends.subscribe()))
    else {
        return;
    };
    let mut tick = interval(POLL_INTERVAL);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            _ = ends.wait_for(|ends| *ends) => return,
            changed = waiting.changed() => if changed.is_err() { return },
            _ = tick.tick() => {}
        }
        let Some(fleet) = fleet.upgrade() else { return };
        fleet.start_needed(*waiting.borrow_and_update());
        fleet.notice_stranded();
    }
}

impl Inner {
    /// Starts as many runners as `waiting` scripts need.
    fn start_needed(self: &Arc<Self>, waiting: usize) {
        let mut entries = lock(&self.entries);
        let soon: usize = entries.iter().map(FleetEntry::soon).sum();
        let mut missing = waiting.saturating_sub(soon);
        for (position, kept) in entries.iter_mut().enumerate() {
            while missing > 0 && kept.may_start() {
                let mut tasks = lock(&self.tasks);
                if *self.ends.borrow() {
                    return;
                }
                let number = (1..).find(|number| !kept.started.contains_key(number)).unwrap_or(1);
                kept.started.insert(number, Some(Instant::now()));
                missing = missing.saturating_sub(kept.expected_slots());
                tasks.spawn(run_lifecycle(Arc::clone(self), position, number, kept.entry.clone()));
                while tasks.try_join_next().is_some() {}
            }
        }
    }

    /// Notices when no script can run anywhere.
    fn notice_stranded(&self) {
        let entries = lock(&self.entries);
        let is_reached = entries.iter().any(|kept| kept.started.values().any(Option::is_none));
        if self.slots.count() > 0
            || is_reached
            || entries.is_empty()
            || !entries.iter().all(FleetEntry::is_hopeless)
        {
            return;
        }
        let reason = |kept: &FleetEntry| format!("{}: {}", kept.entry.name, kept.last_failure);
        let reasons: Vec<String> = entries.iter().map(reason).collect();
        let trouble = Trouble::resumable(
            format!("no runner can be used: {}", reasons.join("; ")),
            "try them with `mle-star doctor --config FILE`, or allow scripts on this machine with \
             max_concurrent_scripts",
        );
        self.stranded.send_if_modified(|stranded| stranded.replace(trouble).is_none());
    }

    /// The numbers of runs of which no two have the same environment. A new runner prepares these at once; other runs
    /// are prepared with their first script.
    fn one_run_per_environment(&self) -> Vec<u64> {
        let runs = lock(&self.runs);
        let mut found: Vec<&RunSetup> = Vec::new();
        for setup in runs.values() {
            if found.iter().all(|other| other.environment != setup.environment) {
                found.push(setup);
            }
        }
        found.into_iter().map(|setup| setup.run).collect()
    }

    /// Waits until all runners are to end.
    async fn until_end(&self) {
        let _ = self.ends.subscribe().wait_for(|ends| *ends).await;
    }

    fn report(&self, status: RunnerStatus) {
        lock(&self.states).insert(status.runner.clone(), status.clone());
        // Nobody may be looking.
        let _ = self.changes.send(status);
    }

    async fn run_on(
        &self,
        connection: &Connection,
        remote: &RemoteJob<'_>,
    ) -> Result<(Box<Execution>, Received), String> {
        self.open(connection, remote.run).await.map_err(|not_opened| not_opened.reason)?;
        let (mut executed, received, disk) = connection.run(remote).await?;
        let DiskFindings { disk_left, changed_data } = disk;
        if let Some(left) = disk_left.filter(|_| executed.lacked_room) {
            return Err(format!("its disk is full, {left} left"));
        }
        if changed_data {
            let note = "the script changed the runner's copy of the data, which is replaced";
            executed.outcome.notes.push(note.to_owned());
        }
        if let Some(kept) = lock(&self.entries).iter_mut().find(|kept| kept.has(connection)) {
            kept.failures = 0;
        }
        Ok((executed, received))
    }

    /// Prepares a run on a runner.
    async fn open(&self, connection: &Connection, run: u64) -> Result<(), NotStarted> {
        let setup = lock(&self.runs).get(&run).cloned().ok_or_else(|| "the run is over".to_owned())?;
        let entry =
            lock(&self.entries).iter().find(|kept| kept.has(connection)).map(|kept| kept.entry.clone());
        let entry = entry.ok_or_else(|| "its entry is gone".to_owned())?;
        connection.open(&setup_for(setup, &entry, &connection.hello)).await
    }
}

fn slots_of(entry: &RunnerEntry, hello: &Hello) -> usize {
    entry.slots.map_or(hello.machine.gpus.len(), |slots| slots as usize).max(1)
}

/// One runner from its start to its end.
async fn run_lifecycle(fleet: Arc<Inner>, position: usize, number: u32, entry: RunnerEntry) {
    let name = format!("{}-{number}", entry.name);
    let began = Instant::now();
    let status = |state, detail: &str| RunnerStatus {
        runner: name.clone(),
        state,
        host: None,
        slots: entry.expected_slots() as u64,
        waited: None,
        detail: detail.to_owned(),
    };
    fleet.report(status(RunnerState::Waiting, ""));
    let connection = match start_and_prepare(&fleet, &name, &entry, &status).await {
        Ok(connection) => connection,
        Err(_) if *fleet.ends.borrow() => {
            fleet.report(status(RunnerState::GivenBack, ""));
            return;
        }
        Err(not_started) => {
            fleet.report(status(RunnerState::Failed, &not_started.reason));
            fleet.record_end(position, number, |kept| kept.failed(not_started, began));
            return;
        }
    };
    let slots = slots_of(&entry, &connection.hello);
    let ready = RunnerStatus {
        host: Some(connection.hello.host.clone()),
        slots: slots as u64,
        waited: Some(began.elapsed().as_secs_f64()),
        ..status(RunnerState::Ready, &describe(&connection.hello))
    };
    let end = fleet.serve_scripts(&connection, (position, number), &entry, &ready).await;
    if end.is_none() {
        connection.say_goodbye();
        let _ = timeout(END_TIMEOUT, connection.wait_until_gone()).await;
        connection.give_up("it was given back".to_owned());
    }
    let state = if end.is_some() { RunnerState::Lost } else { RunnerState::GivenBack };
    fleet.report(RunnerStatus { state, detail: end.clone().unwrap_or_default(), ..ready });
    fleet.record_end(position, number, |kept| {
        if let Some(reason) = end {
            kept.failed(NotStarted { reason, hope: Hope::Some }, began);
        }
    });
}

/// Starts a runner and prepares the environments of this process on it.
async fn start_and_prepare(
    fleet: &Arc<Inner>,
    name: &str,
    entry: &RunnerEntry,
    status: &impl Fn(RunnerState, &str) -> RunnerStatus,
) -> Result<Arc<Connection>, NotStarted> {
    let connection =
        Connection::start(name, &entry.argv(name), entry.start_limit(), fleet.until_end()).await?;
    for run in fleet.one_run_per_environment() {
        let mut progress = connection.progress();
        let opening = fleet.open(&connection, run);
        let telling = async {
            while progress.changed().await.is_ok() {
                let text = progress.borrow_and_update().clone();
                let host = Some(connection.hello.host.clone());
                fleet.report(RunnerStatus { host, ..status(RunnerState::Waiting, &text) });
            }
            std::future::pending::<()>().await;
        };
        let opened = tokio::select! {
            opened = opening => opened,
            () = telling => Ok(()),
            () = fleet.until_end() => Err("it is not needed any more".to_owned().into()),
        };
        // The run may have ended meanwhile.
        let is_there = lock(&fleet.runs).contains_key(&run);
        if let Some(not_opened) = opened.err().filter(|_| is_there) {
            connection.say_goodbye();
            let _ = timeout(END_TIMEOUT, connection.wait_until_gone()).await;
            connection.give_up(not_opened.reason.clone());
            return Err(not_opened);
        }
    }
    Ok(connection)
}

impl Inner {
    /// Reports that a runner is ready, and gives it scripts until it is lost, for the reason returned, or has had nothing to
    /// do for long.
    async fn serve_scripts(
        &self,
        connection: &Arc<Connection>,
        (position, number): (usize, u32),
        entry: &RunnerEntry,
        status: &RunnerStatus,
    ) -> Option<String> {
        let slots = slots_of(entry, &connection.hello);
        let host = {
            // A script that is given a slot at once waits for this lock, and so does who waits for the report.
            let mut ready = lock(&self.ready);
            self.report(status.clone());
            let host = self.slots.add(&connection.name, slots);
            ready.insert(host, Arc::clone(connection));
            host
        };
        if let Some(kept) = lock(&self.entries).get_mut(position) {
            kept.slots = Some(slots);
            kept.started.insert(number, None);
        }
        let idle = idle(&self.slots, host, Duration::from_secs(entry.idle_timeout));
        let lost = tokio::select! {
            reason = connection.wait_until_gone() => Some(reason),
            () = idle => None,
            () = self.until_end() => None,
        };
        self.slots.remove(host);
        lock(&self.ready).remove(&host);
        lost
    }

    /// Records that a runner of the entry at `position` is gone; `note` adds the reason.
    fn record_end(&self, position: usize, number: u32, note: impl FnOnce(&mut FleetEntry)) {
        if let Some(kept) = lock(&self.entries).get_mut(position) {
            kept.started.remove(&number);
            note(kept);
        }
    }
}

/// Waits until none of a host's slots was leased for this long, and withdraws them.
async fn idle(slots: &Slots, host: Host, limit: Duration) {
    let mut since = Instant::now();
    loop {
        sleep(POLL_INTERVAL.min(limit)).await;
        if slots.in_use(host) > 0 {
            since = Instant::now();
        } else if since.elapsed() >= limit && slots.remove_if_idle(host) {
            return;
        }
    }
}

/// A runner's machine in a few words.
fn describe(hello: &Hello) -> String {
    let machine = &hello.machine;
    let gpus = match machine.gpus.as_slice() {
        [] => "no GPU".to_owned(),
        [one] => one.name.clone(),
        [first, ..] => format!("{} × {}", machine.gpus.len(), first.name),
    };
    let cores = if machine.cores == 1 { "1 core".to_owned() } else { format!("{} cores", machine.cores) };
    format!("{}: {cores}, {} GiB, {gpus}", hello.host, machine.memory_mib / 1024)
}
