//! Measures the cost of ten pages that show a running run: its time with and without them, and whether its journal
//! is the same. Build the program first: `cargo build --release && cargo run --release -p mle-star-lab --example viewers`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark talks, and ends where it cannot go on"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Instant;

use mle_star::journal::read;
use serde_json::Value;

const TIMES: usize = 7;
const VIEWERS: usize = 10;
const DATA: [(&str, &str); 4] = [
    ("train.csv", "id,size,town,price\n1,10,a,1.5\n2,20,b,2.5\n3,30,a,3.5\n4,40,b,4.5\n"),
    ("test.csv", "id,size,town\n5,15,a\n6,25,b\n"),
    ("sample_submission.csv", "id,price\n5,0\n6,0\n"),
    ("description.md", "Predict the price.\n\n# Evaluation\n\nRoot mean squared error.\n"),
];

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("data")).unwrap();
    for (name, text) in DATA {
        fs::write(root.join("data").join(name), text).unwrap();
    }
    interpreter(root);
    let mut seconds = [Vec::new(), Vec::new()];
    let mut journals = Vec::new();
    for time in 0..TIMES {
        for (viewed, of) in seconds.iter_mut().enumerate() {
            let id = format!("r{time}-{viewed}");
            let (took, bytes) = if viewed == 0 { (run(root, &id), 0) } else { watched(root, &id) };
            println!(
                "{id}: {took:.3} s{}",
                if viewed == 0 { String::new() } else { format!(", {bytes} bytes sent") }
            );
            of.push(took);
            journals.push(journal(&root.join("runs").join(id)));
        }
    }
    let [alone, looked_at] = seconds.map(median);
    println!(
        "alone {alone:.3} s, with {VIEWERS} pages {looked_at:.3} s: {:.3} times as long",
        looked_at / alone
    );
    println!("journals are the same: {}", journals.iter().all(|journal| *journal == journals[0]));
}

/// An interpreter that takes a quarter of a second for any script, and prints while it does.
fn interpreter(root: &Path) {
    let path = root.join("python");
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in\n  *importlib.metadata*) echo '[[\"scikit-learn\", \"1.0\"]]' ;;\n  *sysconfig*) echo \
         '[\"{}\", [3, 11, 0], \"linux-x86_64\"]' ;;\n  *) for i in 1 2 3 4 5; do echo step $i; sleep 0.05; done; mkdir \
         -p final; cp input/sample_submission.csv final/submission.csv; echo 'Final Validation Performance: 0.5' ;;\nesac\n",
        path.display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn program(root: &Path, line: &str) -> Command {
    let beside: PathBuf =
        std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("mle-star");
    let mut command = Command::new(beside);
    command.args(line.split_whitespace()).current_dir(root).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", root);
    command
}

fn run(root: &Path, id: &str) -> f64 {
    let python = root.join("python");
    let line = format!(
        "run data --quiet --run-id {id} --set python={} --set num_parallel_solutions=2",
        python.display()
    );
    let began = Instant::now();
    assert!(program(root, &line).status().unwrap().success());
    began.elapsed().as_secs_f64()
}

/// The run with pages open on it from its first moment; its seconds, and the bytes that the pages were sent.
fn watched(root: &Path, id: &str) -> (f64, usize) {
    // The pages are opened when the run has only its folder.
    let mut page = program(root, "ui --json --port 0").stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(page.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let url: Value = serde_json::from_str(&line).unwrap();
    let host = url["url"].as_str().unwrap().trim_start_matches("http://").trim_end_matches('/').to_owned();
    let viewers: Vec<JoinHandle<usize>> = (0..VIEWERS).map(|_| viewer(host.clone(), id.to_owned())).collect();
    let took = run(root, id);
    end(&mut page);
    (took, viewers.into_iter().map(|viewer| viewer.join().unwrap()).sum())
}

/// Opens the page as soon as it exists and follows it until the server ends.
fn viewer(host: String, id: String) -> JoinHandle<usize> {
    std::thread::spawn(move || {
        loop {
            let mut stream = TcpStream::connect(&host).unwrap();
            write!(stream, "GET /runs/{id}/events HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n")
                .unwrap();
            let mut sent = [0; 64 * 1024];
            let mut bytes = stream.read(&mut sent).unwrap_or_default();
            if !sent.starts_with(b"HTTP/1.1 200") {
                std::thread::sleep(std::time::Duration::from_millis(20));
                continue;
            }
            while let Ok(more @ 1..) = stream.read(&mut sent) {
                bytes += more;
            }
            return bytes;
        }
    })
}

fn end(child: &mut Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Every record without the times in it.
fn journal(folder: &Path) -> Vec<String> {
    let effects = read(folder).unwrap().effects;
    let record = |effect: &mle_star::journal::EffectRecord| {
        let mut outcome = effect.outcome.clone().unwrap_or_default();
        if let Some(fields) = outcome.as_object_mut() {
            for measured in ["duration_seconds", "seconds", "allowed"] {
                fields.remove(measured);
            }
        }
        format!("{} {:?} {:?} {outcome}", effect.place, effect.kind, effect.state)
    };
    let mut records: Vec<String> = effects.iter().map(record).collect();
    records.sort();
    records
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
