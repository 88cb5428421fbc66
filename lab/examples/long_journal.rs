//! How long it takes to open a journal of many records, each of them checked, and to read it.
//!
//!     cargo run --release -p mle-star-lab --example long_journal [RECORDS]

#![expect(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::error::Error;
use std::time::Instant;

use mle_star::journal::{Entry, Journal, Kind, read};
use mle_star::stop::Stop;
use mle_star::testing::frozen;
use mle_star_domain::effects::AgentReply;
use mle_star_domain::place::Place;
use serde_json::json;

/// Length of a prompt and of an answer in characters; real ones have one to twenty thousand.
const TEXT: usize = 2000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let records: usize = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let folder = tempfile::tempdir()?;
    let journal = Journal::create(folder.path(), &frozen())?;
    let (request, reply) = (json!({"prompt": "p".repeat(TEXT)}), AgentReply::text("a".repeat(TEXT)));
    let began = Instant::now();
    for number in 0..records {
        let place = Place::from(format!("phase2/path-0/t{number}/coder").as_str());
        let entry = Entry::new(&place, Kind::Agent, &request, &request)?;
        journal.once(entry, async { Ok::<_, Stop>(reply.clone()) }).await?;
    }
    println!(
        "{records} records written: {:.1} us each",
        began.elapsed().as_secs_f64() * 1e6 / records as f64
    );
    drop(journal);
    let bytes = std::fs::metadata(folder.path().join("journal.db"))?.len();
    println!("journal: {} MiB", bytes >> 20);
    for _ in 0..3 {
        let began = Instant::now();
        drop(Journal::open(folder.path())?);
        let opened = began.elapsed().as_secs_f64();
        let began = Instant::now();
        let read = read(folder.path())?.effects.len();
        println!(
            "opened and checked: {opened:.2} s; {read} records read: {:.2} s",
            began.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
