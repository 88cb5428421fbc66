//! The same work on more and more runners.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mle_star::slots::Exclusivity;

use super::processes::{own_time, processor_time};
use super::world::World;
use super::{Failure, Words, ms, quartiles};

const SLEEP: Duration = Duration::from_millis(500);

/// One measurement.
struct Measured {
    took: Duration,
    /// Processor time of everything, and of the program alone.
    all: Duration,
    own: Duration,
}

/// So many scripts that sleep on 1, 2, 4 and 8 runners. The first is measured once, because it takes longest.
pub async fn scaling(words: &Words, scripts: usize, rounds: usize) -> Result<(), Failure> {
    println!("{scripts} scripts that sleep {SLEEP:?}, warm; processor time of a script in ms");
    println!("runners    seconds  of ideal  of linear  processor  program");
    let count = u32::try_from(scripts)?;
    let mut one = 0.0;
    for runners in [1, 2, 4, 8] {
        let world = Arc::new(World::new(words, true).await?);
        let on = Arc::new(world.fleet(runners, &[])?);
        on.warm_up(&world, runners).await?;
        let mut rows = Vec::new();
        for _ in 0..if runners == 1 { 1 } else { rounds } {
            let (all, own, began) = (processor_time(), own_time(), Instant::now());
            let running: Vec<_> = (0..scripts)
                .map(|_| {
                    let (world, on) = (Arc::clone(&world), Arc::clone(&on));
                    tokio::spawn(async move {
                        let lease = on.share.lease(None, Exclusivity::Shared).await;
                        let script = format!("import time; time.sleep({})", SLEEP.as_secs_f64());
                        world.run(&on.scripts, &script, lease.slot()).await.map(drop)
                    })
                })
                .collect();
            for running in running {
                running.await??;
            }
            let took = began.elapsed();
            rows.push(Measured { took, all: processor_time() - all, own: own_time() - own });
        }
        on.end().await?;
        let median = |value: fn(&Measured) -> Duration| {
            quartiles(rows.iter().map(|row| value(row).as_secs_f64()).collect())[1]
        };
        let took = median(|row| row.took);
        if runners == 1 {
            one = took;
        }
        let ideal = SLEEP.as_secs_f64() * f64::from(count) / runners as f64;
        let per_script = |seconds: f64| ms(Duration::from_secs_f64(seconds)) / f64::from(count);
        println!(
            "{runners:7} {took:10.2} {:9.3} {:10.3} {:10.1} {:8.1}",
            ideal / took,
            one / took / runners as f64,
            per_script(median(|row| row.all)),
            per_script(median(|row| row.own)),
        );
    }
    Ok(())
}
