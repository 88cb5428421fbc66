//! A script on a runner against the same script here.

use std::time::{Duration, Instant};

use mle_star_backends::runners::fleet::probe;
use mle_star_domain::slot::Slot;

use super::processes::processor_time;
use super::world::World;
use super::{Failure, Words, ms, spread};

/// Between two scripts, so that the worker can prepare the next.
const PAUSE: Duration = Duration::from_millis(100);

/// Name and text of each script. All tell whether they were started warm.
const SCRIPTS: [(&str, &str); 2] = [
    ("nothing", "import gc\nprint('warm' if gc.get_freeze_count() else 'cold')\n"),
    (
        "prints and submits",
        "import gc\nprint('warm' if gc.get_freeze_count() else 'cold')\nfor i in range(100): print('epoch', i)\n\
         import os\nos.makedirs('final', exist_ok=True)\n\
         open('final/submission.csv', 'w').write('id,y\\n' + ''.join(f'{i},0.5\\n' for i in range(10000)))\n",
    ),
];

/// Each script here and there, in turn.
pub async fn overhead(words: &Words, pairs: usize) -> Result<(), Failure> {
    let world = World::new(words, true).await?;
    let probed = probe(&world.entry()?, None, std::future::pending()).await?;
    println!("round trip {:.2} ms, start {:.0} ms", ms(probed.round_trip), ms(probed.started_in));
    let here = world.here()?;
    here.warmed_up(0).await;
    let on = world.fleet(1, &[])?;
    on.warm_up(&world, 1).await?;
    let lease = on.lease().await?;
    println!(
        "medians (quartiles) of {pairs} pairs, in ms; in the script's own process: from its start to its end"
    );
    for (name, script) in SCRIPTS {
        let mut columns = [const { Vec::new() }; 6];
        let mut warm = 0;
        for _ in 0..pairs {
            let mut row = Vec::new();
            let mut both_warm = true;
            for (scripts, slot) in [(&here, Slot::here(0)), (&on.scripts, lease.slot())] {
                tokio::time::sleep(PAUSE).await;
                let (processor, began) = (processor_time(), Instant::now());
                let outcome = world.run(scripts, script, slot).await?;
                row.push(ms(began.elapsed()));
                row.push(outcome.duration_seconds * 1e3);
                row.push(ms(processor_time() - processor));
                both_warm &= outcome.stdout.head.starts_with("warm");
            }
            if both_warm {
                warm += 1;
                columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            }
        }
        println!("{name}: {warm} pairs were warm on both sides");
        let more: Vec<f64> = columns[3].iter().zip(&columns[0]).map(|(there, here)| there - here).collect();
        for (what, [here, there]) in [("in all", [0, 3]), ("own process", [1, 4])] {
            println!(
                "  {what:12} here {} there {}",
                spread(columns[here].clone()),
                spread(columns[there].clone())
            );
        }
        let mean = |column: &[f64]| column.iter().sum::<f64>() / column.len().max(1) as f64;
        println!("  processor, mean: here {:.1} there {:.1}", mean(&columns[2]), mean(&columns[5]));
        println!("  more on the runner {}", spread(more));
    }
    drop(lease);
    on.end().await
}
