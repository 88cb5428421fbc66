//! What scripts can do with a GPU, isolated as in a run: one row for each thing that has to hold. Needs a GPU and an
//! interpreter with torch; `cargo xtask gpu` installs one and starts this.
//!
//! `cargo run -p mle-star-lab --example gpu PYTHON`

use std::error::Error;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use mle_star::backend::ScriptRunner;
use mle_star_backends::backend::{ScriptBackend, ScriptSetup};
use mle_star_backends::script::environment::{Environment, EnvironmentChoice, python_environment};
use mle_star_backends::script::gpus::{TriedGpu, try_gpus};
use mle_star_domain::effects::{DataView, OutOfMemory, Purpose, ScriptOutcome, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::slot::Slot;
use mle_star_process::machine::{Machine, machine};
use mle_star_process::sandbox::{Isolation, Network};
use mle_star_process::warm::WarmStart;

type Failure = Box<dyn Error>;

/// The limit of each script.
const LIMIT: Duration = Duration::from_secs(300);
/// How long the driver may take to free the memory of a process that has ended.
const FREEING: Duration = Duration::from_secs(10);
/// How many seconds an import takes at most if it happened ahead.
const AHEAD: f64 = 0.3;
/// Memory of the GPU that the driver may hold for itself, in MiB.
const NOISE_MIB: u64 = 64;
const START: &str = "\
import os, time
began = time.perf_counter()
import torch
print('import:', round(time.perf_counter() - began, 2))
print('GPUs:', os.environ.get('CUDA_VISIBLE_DEVICES'))
print('forked:', b'worker-' in open('/proc/self/environ', 'rb').read())
";
const END: &str = "print('Final Validation Performance:', 1.0)\n";
const PRODUCT: &str = "x = torch.randn(2000, 2000, device='cuda')\nassert torch.isfinite(x @ x).all()\n";
const TOO_MUCH: &str = "torch.empty(200 << 30, dtype=torch.uint8, device='cuda')\n";
const MOST: &str = "\
free, _ = torch.cuda.mem_get_info()
held = torch.empty(int(free * 0.9), dtype=torch.uint8, device='cuda')
time.sleep(5)
";
const LEFT: &str = "\
import subprocess, sys
code = \"import torch, time; x = torch.ones(1 << 28, device='cuda'); print('holds', flush=True); time.sleep(600)\"
child = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE)
assert child.stdout.readline() == b'holds\\n'
";
const TRAINING: &str = "\
from torch.utils.data import DataLoader, TensorDataset
def main():
    x = torch.randn(4096, 32)
    data = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), 256, num_workers=4, pin_memory=True)
    model = torch.compile(torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 2)).cuda())
    best = torch.optim.Adam(model.parameters(), 1e-2)
    for _ in range(3):
        for rows, labels in data:
            with torch.autocast('cuda', dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(rows.cuda(non_blocking=True)), labels.cuda())
            best.zero_grad(); loss.backward(); best.step()
    assert loss.item() < 0.5, loss
if __name__ == '__main__':
    main()
";

/// Scripts of one machine.
struct World {
    environment: Environment,
    machine: Machine,
    folder: tempfile::TempDir,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let python = std::env::args().nth(1).ok_or("usage: gpu PYTHON")?;
    let environment = python_environment(EnvironmentChoice::Given(python.into()), &|_| ()).await?;
    let world = World { environment, machine: machine().await, folder: tempfile::tempdir()? };
    if world.machine.gpus.is_empty() {
        return Err("this machine has no GPU".into());
    }
    fs::create_dir(world.folder.path().join("data"))?;
    fs::write(world.folder.path().join("data/train.csv"), "id,y\n1,0\n")?;
    let before = used_mib()?;
    let mut all_hold = true;
    let mut told = |what: &str, (holds, says): (bool, String)| {
        all_hold &= holds;
        tell(what, holds, &says);
    };
    told("CUDA starts inside the isolation", starts(&world).await);
    told("two scripts one after another, cold", in_turn(&world, None).await?);
    told(
        "the same, warm: torch is there already",
        in_turn(&world, Some(WarmStart::on(&world.machine))).await?,
    );
    told("two scripts at once", at_once(&world, PRODUCT, false).await?);
    told("two that each want 90 % of the memory", at_once(&world, MOST, true).await?);
    let outcome = world.alone(TOO_MUCH).await?;
    told(
        "200 GiB are too much, and it says so",
        (outcome.out_of_memory == Some(OutOfMemory::Gpu), says(&outcome)),
    );
    let outcome = world.alone(LEFT).await?;
    let (is_free, used) = is_freed(before)?;
    told(
        "a process left on the GPU is gone",
        (scored(&outcome) && is_free, format!("{used}; {}", says(&outcome))),
    );
    let outcome = world.alone(TRAINING).await?;
    told("4 loaders, pinned memory, bf16, torch.compile", (scored(&outcome), says(&outcome)));
    told("nothing is left on the GPU", is_freed(before)?);
    if all_hold { Ok(()) } else { Err("not all of it holds".into()) }
}

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn tell(what: &str, holds: bool, says: &str) {
    println!("{:8}{what:46} {says}", if holds { "holds" } else { "FAILS" });
}

async fn starts(world: &World) -> (bool, String) {
    let tried = try_gpus(&world.environment, &world.machine, &Isolation::new(Network::Denied)).await;
    let lines: Vec<String> = tried.iter().map(TriedGpu::line).collect();
    (tried.iter().all(|gpu| gpu.works_inside), lines.join("; "))
}

/// Two scripts one after another; if they start warm, the second has to find torch imported.
async fn in_turn(world: &World, warm_start: Option<WarmStart>) -> Result<(bool, String), Failure> {
    let is_warm = warm_start.is_some();
    let backend = world.backend(1, warm_start)?;
    let mut last = None;
    for _ in 0..2 {
        backend.warmed_up(0).await;
        let outcome = run(&backend, PRODUCT, 0).await?;
        if !scored(&outcome) {
            return Ok((false, says(&outcome)));
        }
        last = Some(outcome);
    }
    let last = last.ok_or("no script ran")?;
    let printed = last.stdout.text();
    let seconds = printed.lines().find_map(|line| line.strip_prefix("import: ")?.parse::<f64>().ok());
    let is_there = printed.contains("forked: True") && seconds.is_some_and(|seconds| seconds < AHEAD);
    Ok((is_there == is_warm, says(&last)))
}

/// Two scripts at once on one GPU; of those that may run out of its memory, one may have to run again, alone.
async fn at_once(world: &World, script: &str, may_run_out: bool) -> Result<(bool, String), Failure> {
    let backend = world.backend(2, None)?;
    let (first, second) = tokio::join!(run(&backend, script, 0), run(&backend, script, 1));
    let mut outcomes = [first?, second?];
    let words = outcomes.each_ref().map(says).join("; ");
    for outcome in outcomes.iter_mut().filter(|outcome| may_run_out && outcome.out_of_memory.is_some()) {
        *outcome = run(&backend, script, 0).await?;
    }
    Ok((outcomes.iter().all(scored), words))
}

impl World {
    fn backend(&self, slots: usize, warm_start: Option<WarmStart>) -> Result<ScriptBackend, Failure> {
        Ok(ScriptBackend::new(ScriptSetup {
            slots,
            warm_start,
            ..ScriptSetup::new(
                self.folder.path().join("run"),
                self.folder.path().join("data"),
                self.environment.clone(),
                self.machine.clone(),
            )
        })?)
    }

    async fn alone(&self, script: &str) -> Result<ScriptOutcome, Failure> {
        run(&self.backend(1, None)?, script, 0).await
    }
}

async fn run(backend: &ScriptBackend, script: &str, slot: usize) -> Result<ScriptOutcome, Failure> {
    let request = ScriptRequest {
        place: Place::from(format!("phase1/candidate-{slot}/run").as_str()),
        script: format!("{START}{script}{END}"),
        purpose: Purpose::Score,
        timeout: LIMIT,
        time_left: LIMIT,
        slot: Slot::here(slot),
        data: DataView::Search,
    };
    Ok(backend.run(&request).await?)
}

fn scored(outcome: &ScriptOutcome) -> bool {
    !outcome.is_error() && outcome.score.is_some()
}

/// What it printed, or its error; and what was noted about it.
fn says(outcome: &ScriptOutcome) -> String {
    let printed = outcome.stdout.text();
    let start: Vec<&str> = printed.lines().take(3).collect();
    let error = outcome.traceback.as_deref().and_then(|text| text.trim().lines().last());
    let seconds = format!("{:.1} s", outcome.duration_seconds);
    let words = start.into_iter().chain([seconds.as_str()]).chain(error);
    words.chain(outcome.notes.iter().map(String::as_str)).collect::<Vec<_>>().join(", ")
}

/// The memory of all GPUs in use, in MiB.
fn used_mib() -> Result<u64, Failure> {
    let output = Command::new("nvidia-smi")
        .args(["--query-gpu=memory.used", "--format=csv,noheader,nounits"])
        .output()?;
    Ok(String::from_utf8(output.stdout)?.lines().filter_map(|line| line.trim().parse::<u64>().ok()).sum())
}

/// Is no more in use than before, at the latest after a while?
fn is_freed(before: u64) -> Result<(bool, String), Failure> {
    let began = Instant::now();
    loop {
        let used = used_mib()?;
        let is_free = used <= before + NOISE_MIB;
        if is_free || began.elapsed() > FREEING {
            return Ok((is_free, format!("{used} MiB in use, {before} before")));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
