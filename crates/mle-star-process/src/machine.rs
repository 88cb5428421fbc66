//! What this machine offers to children: cores, memory, GPUs.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::available_parallelism;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::process::Command;
use tokio::time::timeout;

use crate::{cgroup, proc};

/// How long `nvidia-smi` may take. With a broken driver it hangs.
const GPU_QUERY_LIMIT: Duration = Duration::from_secs(5);

/// Cores, memory and GPUs that children may use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Logical cores, within CPU affinity and cgroup quotas.
    pub cores: usize,
    /// Memory in MiB, within the limits of control groups; 0 if unknown.
    pub memory_mib: u64,
    /// GPUs, without those that `CUDA_VISIBLE_DEVICES` hides.
    pub gpus: Vec<Gpu>,
}

/// One GPU.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    /// The driver's number for it.
    pub index: u32,
    /// The product's name.
    pub name: String,
    /// Its memory in MiB.
    pub memory_mib: u64,
}

/// Inspects this machine. What cannot be determined counts as missing.
pub async fn machine() -> Machine {
    Machine { cores: cores(), memory_mib: memory_mib(), gpus: gpus().await }
}

fn cores() -> usize {
    available_parallelism().map_or(1, usize::from)
}

fn memory_mib() -> u64 {
    let physical = Some(proc::machine_memory().total_kib / 1024).filter(|mib| *mib > 0);
    let own = cgroup::own_folder();
    // The smallest limit of a group and those above it applies.
    let groups = own.iter().flat_map(|own| own.ancestors()).map(|group| group.join("memory.max"));
    let files = groups.chain([PathBuf::from("/sys/fs/cgroup/memory/memory.limit_in_bytes")]);
    let limits = files.filter_map(|file| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok());
    limits.map(|bytes| bytes / (1024 * 1024)).chain(physical).min().unwrap_or(0)
}

async fn gpus() -> Vec<Gpu> {
    let mut query = Command::new("nvidia-smi");
    query.args(["--query-gpu=index,name,memory.total,uuid", "--format=csv,noheader"]);
    query.stdin(Stdio::null()).kill_on_drop(true);
    let Ok(Ok(output)) = timeout(GPU_QUERY_LIMIT, query.output()).await else {
        return Vec::new();
    };
    if !output.status.success() {
        return Vec::new();
    }
    listed_gpus(&String::from_utf8_lossy(&output.stdout), env::var("CUDA_VISIBLE_DEVICES").ok().as_deref())
}

/// The GPUs of `nvidia-smi`'s answer (index, name, memory, UUID) that `visible` does not hide, in its order.
/// As in CUDA itself, the first entry of `visible` that names no GPU ends the list.
fn listed_gpus(answer: &str, visible: Option<&str>) -> Vec<Gpu> {
    let all: Vec<(Gpu, &str)> = answer.lines().filter_map(listed_gpu).collect();
    let Some(visible) = visible else {
        return all.into_iter().map(|(gpu, _)| gpu).collect();
    };
    let named = |entry: &str| {
        let same = |(gpu, uuid): &&(Gpu, &str)| {
            entry.parse() == Ok(gpu.index) || (entry.starts_with("GPU-") && uuid.starts_with(entry))
        };
        all.iter().find(same).map(|(gpu, _)| gpu.clone())
    };
    visible.split(',').map(str::trim).map_while(named).collect()
}

fn listed_gpu(line: &str) -> Option<(Gpu, &str)> {
    let fields: Vec<&str> = line.split(',').map(str::trim).collect();
    let [index, name, memory, uuid] = fields.as_slice() else { return None };
    let index = index.parse().ok()?;
    // "[N/A]" on machines that share memory between processor and GPU.
    let memory_mib = memory.split_whitespace().next()?.parse().unwrap_or(0);
    Some((Gpu { index, name: (*name).to_owned(), memory_mib }, uuid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gpus_are_listed_as_far_as_they_are_visible() {
        let answer = "0, NVIDIA H200, 143771 MiB, GPU-aa1\n1, NVIDIA H200, 143771 MiB, GPU-bb2\n";
        let check = |answer: &str, visible: Option<&str>, expected: &[u32]| {
            let found: Vec<u32> = listed_gpus(answer, visible).iter().map(|gpu| gpu.index).collect();
            assert_eq!(found, expected, "{answer:?} {visible:?}");
        };
        check(answer, None, &[0, 1]);
        check(answer, Some(""), &[]);
        check(answer, Some("1"), &[1]);
        check(answer, Some("1,0"), &[1, 0]);
        check(answer, Some("0,-1,1"), &[0]);
        check(answer, Some("GPU-bb"), &[1]);
        check("No devices were found\n", None, &[]);
        check("", None, &[]);
        let gpu = Gpu { index: 0, name: "NVIDIA H200".to_owned(), memory_mib: 143_771 };
        assert_eq!(listed_gpus(answer, Some("0")), [gpu]);
        assert_eq!(listed_gpus("0, GB10, [N/A], GPU-c", None)[0].memory_mib, 0);
    }
}
