//! Sets up the backend of scripts: environment, machine, data and isolation.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use mle_star::event::Event;
use mle_star::journal::KeptFrom;
use mle_star::slots::Slots;
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::runners::entry::RunnerEntry;
use mle_star_backends::runners::fleet::Fleet;
use mle_star_backends::script::environment::{Environment, Origin};
use mle_star_backends::script::gpus::{TriedGpu, try_gpus};
use mle_star_domain::config::Switch;
use mle_star_process::machine::{Machine, machine};
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;
use serde_json::Value;

use super::{Runners, held_out};
use crate::data_folders::DataFolders;
use crate::error::RunError;
use crate::open_run::OpenRun;
use crate::python_environment::environment;
use mle_star_report::figures::count;

/// How long the first runner may take to tell what its machine is. It may wait in a queue.
const FIRST_RUNNER: Duration = Duration::from_secs(20);

/// Libraries to name in prompts; the others are their dependencies.
const LIBRARIES: [&str; 14] = [
    "numpy",
    "pandas",
    "scipy",
    "scikit-learn",
    "lightgbm",
    "xgboost",
    "xgboost-cpu",
    "catboost",
    "torch",
    "tensorflow",
    "transformers",
    "polars",
    "statsmodels",
    "nltk",
];

/// The backend of scripts and what belongs to it.
pub struct Backends {
    /// Runs scripts.
    pub scripts: ScriptBackend,
    /// The interpreter and its libraries.
    pub environment: Environment,
    /// The environment in words, for prompts.
    pub environment_text: String,
    /// Limits the scripts that run at once.
    pub slots: Slots,
    /// Runners on other machines.
    pub fleet: Option<Fleet>,
    /// What scripts cannot do; `None` if they also run on other machines.
    pub kept_from: Option<KeptFrom>,
    /// The data as scripts of the search and agents see it.
    pub data_dir: PathBuf,
    /// The data with all rows.
    pub all_rows: PathBuf,
}

impl Backends {
    /// Finds or creates the Python environment, inspects the machine and prepares the data; passes messages to `emit`.
    ///
    /// # Errors
    /// No usable Python, or the environment cannot be created.
    pub async fn make(
        run: &OpenRun,
        runners: &Runners,
        emit: &(dyn Fn(Event) + Sync),
    ) -> Result<Self, RunError> {
        let say = &|text: &str| emit(Event::said(text));
        let config = &run.frozen.config;
        let (environment, machine) = (environment(config.python.as_ref(), say).await?, machine().await);
        let at_once = config.max_concurrent_scripts.map_or(machine.gpus.len().max(1), |most| most as usize);
        let slots = Slots::new(at_once);
        emit(Event::detail(format!("python: {}", environment_line(&environment, &machine, at_once))));
        if let Some(names) = run.rules.as_ref().and_then(|_| missing(&environment)) {
            let python = environment.python.display();
            say(&format!("note: {python} has no {names}, which the scripts of the offline agents need"));
            say("hint: install it there, or leave `python` out to use the program's own environment");
        }
        let isolation = Isolation::new(mle_star_backends::script::network(config.network));
        let is_open =
            !isolation.closes_reads() || isolation.network == Network::Denied && !isolation.closes_network();
        emit(Event::Said { text: format!("isolation: {}", isolation.line()), detail: !is_open });
        let kept_from =
            KeptFrom { network: isolation.closes_network(), other_files: isolation.closes_reads() };
        let folders = DataFolders::of(run);
        let knows_test = folders.protocol().is_some_and(|protocol| protocol.holdout.is_test());
        if (folders.holds_out() || knows_test) && !isolation.closes_reads() {
            say("note: nothing on this machine keeps a script from reading the labels of the held-out rows");
        }
        let (data_dir, all_rows) = (folders.for_search(), folders.all_rows());
        let evaluation = held_out::evaluation(run).map_err(RunError::failed)?;
        // From here on, scripts look at the rows.
        let readable = folders.readable().map_err(RunError::failed)?;
        let tried =
            if at_once == 0 { Vec::new() } else { try_gpus(&environment, &machine, &isolation).await };
        say_of_gpus(&tried, emit);
        let usable = without_unusable(&machine, &tried);
        let fleet = (!run.runners.is_empty())
            .then(|| runners.0.get_or_init(|| Fleet::new(run.runners.clone(), slots.clone())).clone());
        let sample = run.data.facts.pointer("/sample/file").and_then(Value::as_str);
        let setup = ScriptSetup {
            run_folder: run.folder.clone(),
            sample_submission: sample.map(|file| data_dir.join(file)),
            data_dir: data_dir.clone(),
            environment: environment.clone(),
            warm_start: (config.warm_start == Switch::On).then(|| WarmStart::on(&machine)),
            machine,
            slots: at_once,
            id_column: run.frozen.task.roles.id.clone(),
            memory_limit_mib: config.memory_limit_mb,
            isolation: isolation.clone(),
            readable,
            evaluation,
            fleet: fleet.clone(),
        };
        let scripts = ScriptBackend::new(setup).map_err(RunError::failed)?;
        let here = (at_once > 0).then(|| hardware(&usable, at_once));
        let machines = machines(here, &run.runners, fleet.as_ref()).await;
        let environment_text = environment_text(&environment, &machines, &isolation);
        scripts.warm_up();
        let kept_from = run.runners.is_empty().then_some(kept_from);
        Ok(Self { scripts, environment, environment_text, slots, fleet, kept_from, data_dir, all_rows })
    }
}

/// Says of each GPU whether scripts can use it.
fn say_of_gpus(tried: &[TriedGpu], emit: &(dyn Fn(Event) + Sync)) {
    for gpu in tried {
        emit(Event::Said { text: format!("gpu: {}", gpu.line()), detail: gpu.works_inside });
    }
    if tried.iter().any(|gpu| !gpu.works_inside) {
        emit(Event::said(
            "hint: see \"scripts cannot use it\" in docs/troubleshooting.md; `mle-star doctor` tries it again",
        ));
    }
}

/// The machine without GPUs that scripts cannot use: agents should not plan for them.
fn without_unusable(machine: &Machine, tried: &[TriedGpu]) -> Machine {
    let gpus = machine.gpus.iter().enumerate();
    let is_usable = |position: usize| tried.get(position).is_none_or(|gpu| gpu.works_inside);
    let usable = gpus.filter(|(position, _)| is_usable(*position)).map(|(_, gpu)| gpu.clone());
    Machine { gpus: usable.collect(), ..machine.clone() }
}

fn environment_line(environment: &Environment, machine: &Machine, slots: usize) -> String {
    let whose = match environment.origin {
        Origin::Own => "own environment",
        Origin::Given => "as given",
    };
    let scripts = match slots {
        0 => "no scripts here".to_owned(),
        1 => "1 script at a time".to_owned(),
        slots => format!("{slots} scripts at once"),
    };
    format!(
        "{} ({whose}), {}, {}, {scripts}",
        environment.version,
        count(machine.cores as u64, "core"),
        count(machine.gpus.len() as u64, "GPU")
    )
}

/// What scripts of the offline agents import, and the interpreter lacks.
fn missing(environment: &Environment) -> Option<String> {
    let has = |wanted: &str| {
        environment.libraries.iter().any(|(name, _)| name.to_lowercase().replace('_', "-") == wanted)
    };
    let lacking: Vec<&str> =
        ["numpy", "pandas", "scikit-learn"].into_iter().filter(|name| !has(name)).collect();
    (!lacking.is_empty()).then(|| lacking.join(", "))
}

/// The machines that scripts may run on, in words.
async fn machines(here: Option<String>, runners: &[RunnerEntry], fleet: Option<&Fleet>) -> Vec<String> {
    let told = runners.iter().filter_map(|runner| runner.machine.clone());
    let mut machines: Vec<String> = here.into_iter().chain(told).collect();
    machines.dedup();
    if machines.is_empty()
        && let Some(fleet) = fleet
        && let Some(machine) = fleet.first_machine(FIRST_RUNNER).await
    {
        machines.push(hardware(&machine, machine.gpus.len().max(1)));
    }
    machines
}

/// The cores and GPUs of a script in a machine with this many slots, which share its memory.
fn hardware(machine: &Machine, slots: usize) -> String {
    let mut text = count((machine.cores / slots.max(1)).max(1) as u64, "CPU core");
    if machine.memory_mib > 0 {
        // Writing to a string cannot fail.
        let _ = write!(text, ", {} GiB of memory", machine.memory_mib / 1024);
    }
    match machine.gpus.as_slice() {
        [] => text.push_str(", no GPU"),
        gpus @ [first, ..] => {
            let each = match gpus.len() / slots.clamp(1, gpus.len()) {
                1 => String::new(),
                several => format!("{several} × "),
            };
            let _ = write!(text, ", {each}{} with {} GiB", first.name, first.memory_mib / 1024);
        }
    }
    text
}

fn environment_text(environment: &Environment, machines: &[String], isolation: &Isolation) -> String {
    let mut text = format!("Python {}", environment.version);
    let named =
        environment.libraries.iter().filter(|(name, _)| LIBRARIES.contains(&name.to_lowercase().as_str()));
    let libraries: Vec<String> = named.map(|(name, version)| format!("{name} {version}")).collect();
    if !libraries.is_empty() {
        let _ = write!(text, " with {}", libraries.join(", "));
    }
    match machines {
        [] => text.push_str("\nThe hardware is not known before a script runs: look for GPUs in the script"),
        [one] => {
            let _ = write!(text, "\n{one}");
        }
        several => {
            let _ = write!(
                text,
                "\nA script runs on one of these machines and must work on each: {}",
                several.join("; ")
            );
        }
    }
    text.push_str(match isolation.network {
        Network::Allowed => "\nNetwork access",
        Network::Denied if isolation.closes_network() => "\nNo network access at all",
        // This machine cannot block it, but the solution may run where there is none.
        Network::Denied => "\nDo not rely on the network",
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use mle_star_process::machine::Gpu;
    use mle_star_process::sandbox::Layers;

    #[test]
    fn prompts_say_whether_there_is_a_network() {
        let check = |network, layers, expected: &str| {
            let environment = Environment {
                python: PathBuf::from("python3"),
                version: "3.11.0".to_owned(),
                libraries: vec![("numpy".to_owned(), "2.0".to_owned()), ("idna".to_owned(), "1".to_owned())],
                origin: Origin::Given,
            };
            let isolation = Isolation { layers, ..Isolation::new(network) };
            let machine = Machine { cores: 4, memory_mib: 2048, gpus: Vec::new() };
            let text = environment_text(&environment, &[hardware(&machine, 2)], &isolation);
            let start = "Python 3.11.0 with numpy 2.0\n2 CPU cores, 2 GiB of memory, no GPU\n";
            assert_eq!(text, format!("{start}{expected}"));
        };
        let closed = Layers { network: true, ..Layers::none() };
        check(Network::Allowed, closed.clone(), "Network access");
        check(Network::Denied, closed, "No network access at all");
        check(Network::Denied, Layers::none(), "Do not rely on the network");
    }

    #[test]
    fn agents_hear_of_gpus_that_scripts_can_use() {
        let gpu = |index, name: &str| Gpu { index, name: name.to_owned(), memory_mib: 81_920 };
        let machine = Machine { cores: 2, memory_mib: 2048, gpus: vec![gpu(0, "A"), gpu(1, "B")] };
        let check = |works: &[bool], expected: &str| {
            let tried = works.iter().map(|&works_inside| {
                let (name, says) = (String::new(), String::new());
                TriedGpu { name, memory_mib: 1, works_inside, says }
            });
            let usable = without_unusable(&machine, &tried.collect::<Vec<_>>());
            let text = hardware(&usable, 2);
            assert_eq!(text, format!("1 CPU core, 2 GiB of memory, {expected}"), "{works:?}");
        };
        check(&[true, true], "A with 80 GiB");
        check(&[false, true], "B with 80 GiB");
        check(&[false, false], "no GPU");
        // Scripts that run elsewhere do not try them.
        check(&[], "A with 80 GiB");
        assert_eq!(hardware(&machine, 1), "2 CPU cores, 2 GiB of memory, 2 × A with 80 GiB");
        assert_eq!(hardware(&machine, 4), "1 CPU core, 2 GiB of memory, A with 80 GiB");
    }
}
