//! Checks the Python files of the arguments, prints the findings, and says how long it took. The environment variable
//! `MLE_STAR_FACTS` may hold facts as JSON.
#![expect(clippy::print_stdout, reason = "it is a program that prints")]

use std::time::{Duration, Instant};
use std::{env, fs};

use mle_star_leakage::{Facts, Finding, check};

fn main() {
    let facts = env::var("MLE_STAR_FACTS").ok().and_then(|text| serde_json::from_str(&text).ok());
    let facts: Facts = facts.unwrap_or_default();
    let mut took = Duration::ZERO;
    let mut longest = Duration::ZERO;
    let mut files = 0_u32;
    for path in env::args().skip(1) {
        let Ok(source) = fs::read_to_string(&path) else { continue };
        let begun = Instant::now();
        let result = check(&source, &facts);
        let passed = begun.elapsed();
        (took, longest, files) = (took + passed, longest.max(passed), files + 1);
        match result {
            Ok(findings) => findings.iter().for_each(|finding| {
                let Finding { rule, line, column, end_line, text, .. } = finding;
                println!("{path}:{line}:{column}-{end_line}: {rule} {text}");
            }),
            Err(error) => println!("{path}: {error}"),
        }
    }
    println!(
        "{files} files in {took:?}, {:.0} per second, longest {longest:?}",
        f64::from(files) / took.as_secs_f64()
    );
}
