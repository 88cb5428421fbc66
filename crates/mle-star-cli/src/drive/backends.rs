//! The backend of scripts: environment, machine, data and isolation.

use std::fmt::Write as _;
use std::path::PathBuf;

use mle_star::config::Switch;
use mle_star::layout;
use mle_star::slots::Slots;
use mle_star::stop::Trouble;
use mle_star_backends::script::environment::{Environment, Origin};
use mle_star_backends::script::local::{LocalRunner, LocalSetup};
use mle_star_data::unzip;
use mle_star_process::machine::Machine;
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;

use super::Start;
use super::held_out;
use super::shared::Shared;
use crate::exit::Failure;
use crate::usage::counted;

/// Libraries to name in prompts; the others are their dependencies.
const NAMED: [&str; 14] = [
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
    pub scripts: LocalRunner,
    /// The interpreter and its libraries.
    pub environment: Environment,
    /// The environment in words, for prompts.
    pub environment_text: String,
    /// Limits the scripts that run at once.
    pub slots: Slots,
    /// The data as scripts of the search and agents see it.
    pub data_dir: PathBuf,
    /// The data with all rows.
    pub all_rows: PathBuf,
}

impl Backends {
    /// Finds or creates the Python environment, inspects the machine and prepares the data; reports progress to `say`.
    ///
    /// # Errors
    /// No usable Python, or the environment cannot be created.
    pub async fn make(start: &Start, shared: &Shared, say: &(dyn Fn(&str) + Sync)) -> Result<Self, Failure> {
        let config = &start.frozen.config;
        let environment = shared.environment(config.python.as_ref(), say).await?;
        let (machine, slots) = (shared.machine().await.clone(), shared.script_slots().await.clone());
        let at_once = slots.count();
        say(&format!("python: {}", environment_line(&environment, &machine, at_once)));
        let isolation = Isolation::new(mle_star_backends::script::network(config.network));
        say(&format!("isolation: {}", isolation.line()));
        let environment_text = environment_text(&environment, &machine, at_once, &isolation);
        let all_rows = plain_data(start)?;
        let held_out = held_out::folder(start, &all_rows)?;
        if held_out.is_some() && !isolation.closes_reads() {
            say("note: nothing on this machine keeps a script from reading the labels of the held-out rows");
        }
        let data_dir = held_out.as_ref().map_or_else(|| all_rows.clone(), |held_out| held_out.input.clone());
        let evaluation = held_out::evaluation(start, &data_dir, held_out);
        let setup = runner(start, data_dir.clone(), environment.clone(), machine, at_once, isolation);
        let scripts = LocalRunner::new(LocalSetup { evaluation, ..setup }).map_err(Failure::failed)?;
        if shared.is_for_one_run() {
            scripts.warm_up();
        }
        Ok(Self { scripts, environment, environment_text, slots, data_dir, all_rows })
    }
}

fn runner(
    start: &Start,
    data_dir: PathBuf,
    environment: Environment,
    machine: Machine,
    slots: usize,
    isolation: Isolation,
) -> LocalSetup {
    let task = &start.frozen.task;
    let sample = start.profile.as_ref().and_then(|profile| profile.sample.as_ref());
    let sample = sample.map(|sample| data_dir.join(&sample.file));
    LocalSetup {
        run_folder: start.folder.clone(),
        sample_submission: sample,
        data_dir,
        environment,
        machine,
        slots,
        id_column: task.id_column.clone(),
        memory_limit_mib: start.frozen.config.memory_limit_mb,
        warm_start: (start.frozen.config.warm_start == Switch::On).then(WarmStart::default),
        isolation,
        evaluation: None,
    }
}

/// The data folder that scripts see: the task's, or one in the run folder if tables have to be unpacked.
fn plain_data(start: &Start) -> Result<PathBuf, Trouble> {
    let data_dir = &start.frozen.task.data_dir;
    let packed = unzip::packed(data_dir)?;
    if packed.is_empty() {
        return Ok(data_dir.clone());
    }
    let unpacked = start.folder.join(layout::DATA);
    unzip::unpack(data_dir, &packed, &unpacked)?;
    Ok(unpacked)
}

fn environment_line(environment: &Environment, machine: &Machine, slots: usize) -> String {
    let whose = match environment.origin {
        Origin::Own => "own environment",
        Origin::Given => "as given",
    };
    let scripts =
        if slots == 1 { "1 script at a time".to_owned() } else { format!("{slots} scripts at once") };
    format!(
        "{} ({whose}), {}, {}, {scripts}",
        environment.version,
        counted(machine.cores as u64, "core"),
        counted(machine.gpus.len() as u64, "GPU")
    )
}

fn environment_text(
    environment: &Environment,
    machine: &Machine,
    slots: usize,
    isolation: &Isolation,
) -> String {
    let mut text = format!("Python {}", environment.version);
    let named =
        environment.libraries.iter().filter(|(name, _)| NAMED.contains(&name.to_lowercase().as_str()));
    let libraries: Vec<String> = named.map(|(name, version)| format!("{name} {version}")).collect();
    if !libraries.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, " with {}", libraries.join(", "));
    }
    let _ = write!(text, "\n{}", counted((machine.cores / slots.max(1)).max(1) as u64, "CPU core"));
    if machine.memory_mib > 0 {
        let _ = write!(text, ", {} GiB of memory", machine.memory_mib / 1024);
    }
    match machine.gpus.as_slice() {
        [] => text.push_str(", no GPU"),
        [first, ..] => {
            let _ = write!(text, ", {} with {} GiB", first.name, first.memory_mib / 1024);
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
            let text = environment_text(&environment, &machine, 2, &isolation);
            let start = "Python 3.11.0 with numpy 2.0\n2 CPU cores, 2 GiB of memory, no GPU\n";
            assert_eq!(text, format!("{start}{expected}"));
        };
        let closed = Layers { network: true, ..Layers::none() };
        check(Network::Allowed, closed.clone(), "Network access");
        check(Network::Denied, closed, "No network access at all");
        check(Network::Denied, Layers::none(), "Do not rely on the network");
    }
}
