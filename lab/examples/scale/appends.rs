//! Appending to a long journal.

use std::time::{Duration, Instant};

use mle_star::journal::{Entry, Journal, Kind};
use mle_star::stop::Stop;
use mle_star::testing::frozen;
use mle_star_domain::effects::{AgentReply, Usage};
use mle_star_domain::place::Place;
use serde_json::json;

use crate::Failure;

/// How many appends are timed.
const TIMED: usize = 500;

/// Times appends (an effect begun and ended) to a journal of `records` records, free and paid ones, and what a
/// decision and an opening take.
pub async fn appends(records: usize) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let journal = Journal::create(folder.path(), &frozen())?;
    let began = Instant::now();
    for index in 0..records {
        append(&journal, index, 0.0).await?;
    }
    println!("{records} records written in {:.1} s", began.elapsed().as_secs_f64());
    for (what, cost, from) in [("free", 0.0, records), ("paid", 0.01, records + TIMED)] {
        let mut times = Vec::with_capacity(TIMED);
        for index in from..from + TIMED {
            times.push(append(&journal, index, cost).await?);
        }
        tell(&format!("append, {what}"), times);
    }
    let question = |index| {
        let began = Instant::now();
        let place = Place::from(format!("phase2/path-{}/t{index}", index % 8).as_str());
        journal.decided(&place)?;
        journal.begun_below(&place)?;
        Ok(began.elapsed())
    };
    tell("may a step begin", (0..TIMED).map(question).collect::<Result<_, Failure>>()?);
    let began = Instant::now();
    let effects = journal.effects()?.len();
    println!("all {effects} records read in {:.2} s", began.elapsed().as_secs_f64());
    drop(journal);
    let began = Instant::now();
    drop(Journal::open(folder.path())?);
    println!("opened in {:.2} s", began.elapsed().as_secs_f64());
    Ok(())
}

async fn append(journal: &Journal, index: usize, cost: f64) -> Result<Duration, Failure> {
    let place = Place::from(format!("phase2/path-{}/t{}/k0/coder-{index}", index % 8, index / 8).as_str());
    let text = "print('a line of a script or a prompt')\n".repeat(100);
    let input = json!({"prompt": text});
    let entry = Entry::new(&place, Kind::Agent, &input, &input)?;
    let usage = Usage { cost_usd: Some(cost), ..Usage::default() };
    let reply = AgentReply { usage, ..AgentReply::text(text.clone()) };
    let began = Instant::now();
    journal.once(entry, async { Ok::<_, Stop>(reply) }).await?;
    Ok(began.elapsed())
}

fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort();
    let at = |per_cent: usize| {
        let time = times.get((times.len() * per_cent / 100).min(times.len() - 1));
        time.map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    println!("{what}: median {:.3} ms, 95 % {:.3} ms, longest {:.3} ms", at(50), at(95), at(100));
}
