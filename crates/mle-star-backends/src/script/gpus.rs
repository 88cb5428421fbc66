//! Finds out whether scripts can use the GPUs: starts CUDA in a script that is isolated like all others.

use std::sync::Arc;
use std::time::Duration;

use mle_star_domain::trouble::Trouble;
use mle_star_process::machine::{Gpu, Machine};
use mle_star_process::sandbox::{Isolation, Layers};
use serde::{Deserialize, Serialize};

use super::environment::Environment;
use super::executor::{Executor, ExecutorSetup, Job};

/// How long CUDA may take to start. With many GPUs it takes seconds.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const SCRIPT: &str = include_str!("../../python/start_cuda.py");

/// A GPU, and whether scripts can use it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedGpu {
    /// The product's name.
    pub name: String,
    /// Its memory in MiB.
    #[serde(rename = "memory_mb")]
    pub memory_mib: u64,
    /// Whether CUDA starts on it in an isolated script.
    pub works_inside: bool,
    /// What came of it, in words.
    pub says: String,
}

impl TriedGpu {
    /// The GPU with its memory, and what came of it.
    pub fn line(&self) -> String {
        let can = if self.works_inside { "scripts can use it" } else { "scripts cannot use it" };
        format!("{} ({} GiB): {can}: {}", self.name, self.memory_mib / 1024, self.says)
    }
}

/// What `python/start_cuda.py` prints.
#[derive(Debug, Deserialize)]
struct CudaStart {
    version: String,
    trouble: Option<String>,
    gpus: Vec<FoundGpu>,
}

#[derive(Debug, Deserialize)]
struct FoundGpu {
    name: String,
    memory_mib: u64,
    trouble: Option<String>,
}

/// Tries each of the machine's GPUs; where one fails, says whether it is the isolation's doing. Without GPUs, starts
/// nothing.
pub async fn try_gpus(environment: &Environment, machine: &Machine, isolation: &Isolation) -> Vec<TriedGpu> {
    if machine.gpus.is_empty() {
        return Vec::new();
    }
    let mut tried = cuda_results(&machine.gpus, start(environment, machine, isolation.clone()).await);
    if tried.iter().any(|gpu| !gpu.works_inside) {
        let open = Isolation { layers: Layers::none(), ..isolation.clone() };
        let plain = self::cuda_results(&machine.gpus, start(environment, machine, open).await);
        for (gpu, plain) in tried.iter_mut().zip(plain).filter(|(gpu, _)| !gpu.works_inside) {
            gpu.says.push_str(match plain.works_inside {
                true => "; without isolation it works",
                false => "; it does not work without isolation either",
            });
        }
    }
    tried
}

/// The result for each of `gpus`, in CUDA's order.
fn cuda_results(gpus: &[Gpu], found: Result<CudaStart, String>) -> Vec<TriedGpu> {
    let (version, trouble, found) = match found {
        Ok(CudaStart { version, trouble, gpus }) => (version, trouble, gpus),
        Err(trouble) => (String::new(), Some(trouble), Vec::new()),
    };
    let missing = trouble.unwrap_or_else(|| format!("CUDA {version} starts and does not find it"));
    let mut found = found.into_iter();
    let one = |gpu: &Gpu| match found.next() {
        Some(FoundGpu { name, memory_mib, trouble }) => TriedGpu {
            name,
            memory_mib,
            works_inside: trouble.is_none(),
            says: trouble.unwrap_or_else(|| format!("CUDA {version} starts")),
        },
        None => TriedGpu {
            name: gpu.name.clone(),
            memory_mib: gpu.memory_mib,
            works_inside: false,
            says: missing.clone(),
        },
    };
    gpus.iter().map(one).collect()
}

/// Runs a script that only starts CUDA.
async fn start(
    environment: &Environment,
    machine: &Machine,
    isolation: Isolation,
) -> Result<CudaStart, String> {
    let in_words = |trouble: Trouble| trouble.message;
    let folder = tempfile::tempdir().map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let (run, data) = (folder.path().join("run"), folder.path().join("data"));
    std::fs::create_dir(&data).map_err(|error| format!("cannot create a temporary folder: {error}"))?;
    let setup = ExecutorSetup::single(run, environment.clone(), machine.clone(), isolation);
    let executor = Executor::new(setup, &[]).map_err(in_words)?;
    let shown = Arc::new(executor.prepare_input(&data, &[]).map_err(in_words)?);
    let job = Job {
        stem: "start_cuda".to_owned(),
        script: SCRIPT.to_owned(),
        timeout: START_TIMEOUT,
        slot: 0,
        may_be_warm: false,
        modules: Vec::new(),
        keeps_model: false,
        heard: None,
    };
    let (executed, _workplace) = executor.execute(&job, shown).await.map_err(in_words)?;
    let outcome = executed.outcome;
    let printed = outcome.stdout.text();
    let last = printed.lines().last().unwrap_or_default();
    serde_json::from_str(last).map_err(|_| {
        let errors = outcome.stderr.text();
        let why = outcome.notes.first().map(String::as_str).or_else(|| errors.lines().last());
        format!("CUDA does not start: {}", why.unwrap_or("the process that starts it crashes"))
    })
}
