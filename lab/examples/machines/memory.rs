//! The memory of the program and of its runners.

use std::fs;
use std::time::Instant;

use super::processes::{descendants, memory as memory_of};
use super::world::World;
use super::{Failure, Words, quartiles};

/// So many runners at once, before and after each ran a script.
pub async fn memory(words: &Words, runners: usize) -> Result<(), Failure> {
    let world = World::new(words, false).await?;
    let me = std::process::id();
    println!("alone: {:.1} MB, {} open files", memory_of(me, false)?, open_files()?);
    let began = Instant::now();
    let on = world.fleet(runners, &[])?;
    let leases = on.leases(runners).await?;
    let took = began.elapsed().as_secs_f64();
    show(&format!("{runners} runners connected in {took:.1} s"))?;
    let running = leases.iter().map(|lease| world.run(&on.scripts, "print('x' * 1000)", lease.slot()));
    for outcome in futures_util::future::join_all(running).await {
        outcome?;
    }
    show("after a script on each")?;
    drop(leases);
    on.end().await
}

fn show(when: &str) -> Result<(), Failure> {
    let me = std::process::id();
    println!("{when}: {:.1} MB, {} open files", memory_of(me, false)?, open_files()?);
    let mut kinds = std::collections::BTreeMap::<String, Vec<u32>>::new();
    for process in descendants().into_iter().filter(|process| process.id != me) {
        kinds.entry(process.name).or_default().push(process.id);
    }
    for (name, processes) in kinds {
        // Processes may end meanwhile.
        let of =
            |shared| quartiles(processes.iter().filter_map(|id| memory_of(*id, shared).ok()).collect())[1];
        println!(
            "  {} processes {name}: {:.1} MB each, {:.1} MB if what they share counts in parts (medians)",
            processes.len(),
            of(false),
            of(true)
        );
    }
    Ok(())
}

fn open_files() -> Result<usize, Failure> {
    Ok(fs::read_dir("/proc/self/fd")?.count())
}
