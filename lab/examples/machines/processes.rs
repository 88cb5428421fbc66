//! The processes that this one started.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Duration;

use super::Failure;

/// The unit of processor times in `/proc`, which is the same on all Linux machines.
const TICK: Duration = Duration::from_millis(10);

/// A process.
#[derive(Clone, Debug)]
pub struct Process {
    pub id: u32,
    /// The first word of its command line, without folders.
    pub name: String,
    parent: u32,
    /// Its processor time, with that of its children that ended.
    time: Duration,
}

/// This process and all that descend from it.
pub fn descendants() -> Vec<Process> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let processes: HashMap<u32, Process> = ids.filter_map(|id| Some((id, process(id)?))).collect();
    let mut found = HashSet::from([std::process::id()]);
    loop {
        let before = found.len();
        let children = processes.values().filter(|process| found.contains(&process.parent));
        let children: Vec<u32> = children.map(|process| process.id).collect();
        found.extend(children);
        if found.len() == before {
            return processes.into_values().filter(|process| found.contains(&process.id)).collect();
        }
    }
}

/// The processor time of this process and of all that descend from it.
pub fn processor_time() -> Duration {
    descendants().iter().map(|process| process.time).sum()
}

/// The processor time of this process alone.
pub fn own_time() -> Duration {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let [user, system, ..] = times(&stat).unwrap_or_default();
    TICK * (user + system)
}

/// The memory that a process occupies, in MB. With `shared`, what it shares with others counts in parts.
pub fn memory(id: u32, shared: bool) -> Result<f64, Failure> {
    let (file, name) = if shared { ("smaps_rollup", "Pss:") } else { ("status", "VmRSS:") };
    let text = fs::read_to_string(format!("/proc/{id}/{file}"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).ok_or("no memory")?;
    let kib: f64 = line.split_whitespace().next().ok_or("no figure")?.parse()?;
    Ok(kib * 1024.0 / 1e6)
}

/// The bytes that this process wrote, to files and pipes.
pub fn written() -> Result<u64, Failure> {
    let text = fs::read_to_string("/proc/self/io")?;
    let line = text.lines().find_map(|line| line.strip_prefix("wchar:")).ok_or("no wchar")?;
    Ok(line.trim().parse()?)
}

fn process(id: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
    let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
    let name = line.split(['\0', ' ']).next().and_then(|word| word.rsplit('/').next());
    let time = TICK * times(&stat)?.into_iter().sum::<u32>();
    Some(Process { id, name: name.unwrap_or_default().to_owned(), parent, time })
}

/// User and system time, and those of children that ended.
fn times(stat: &str) -> Option<[u32; 4]> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?, next()?, next()?])
}
