//! The agent for MLE-bench (`integrations/mle-bench`), with MLE-bench's own code for data and scores.
//!
//! `tests/mle_bench/container.sh` stands for the container: start.sh runs as the user `nonroot`, and the public data are
//! read-only in `/home/data`. `MLE_STAR_TEST_MLEBENCH` names a checkout of openai/mle-bench, and
//! `MLE_STAR_TEST_MLEBENCH_PYTHON` an interpreter with the libraries of its graders.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use mle_star_needs::needs;
use serde_json::Value;

const SPOOKY: &str = "spooky-author-identification";
const NOMAD: &str = "nomad2018-predict-transparent-conductors";

/// A competition whose data MLE-bench has prepared, and the folders that it collects after a run.
struct Bench {
    dir: tempfile::TempDir,
    competition: &'static str,
}

impl Bench {
    fn prepare(competition: &'static str) -> Self {
        // Not in /home, which the container replaces.
        let bench = Self { dir: tempfile::tempdir().unwrap(), competition };
        let agents = bench.path("agents/mle-star");
        fs::create_dir_all(&agents).unwrap();
        for entry in fs::read_dir(integration()).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), agents.join(entry.file_name())).unwrap();
        }
        fs::create_dir(bench.path("data")).unwrap();
        bench.code(&["prepare", &bench.text("data"), competition]);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Runs MLE-bench's code; the last line of its output.
    fn code(&self, arguments: &[&str]) -> String {
        code(arguments, self.dir.path())
    }

    /// Runs start.sh as MLE-bench starts this agent, with other variables and arguments added.
    fn run(&self, id: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Output {
        let agent: Value = serde_json::from_str(&self.code(&["agent", &self.text("agents"), id])).unwrap();
        let public = self.path("data").join(self.competition).join("prepared/public");
        let mut command = Command::new(tests().join("container.sh"));
        command
            .args([public, self.path("data"), self.path("agents/mle-star"), self.path("out")])
            .args(["bash", "/home/agent/start.sh"])
            .args(agent["arguments"].as_array().unwrap().iter().map(|part| part.as_str().unwrap()))
            .args(arguments)
            .env_clear()
            .envs(
                agent["variables"]
                    .as_object()
                    .unwrap()
                    .iter()
                    .map(|(key, value)| (key, value.as_str().unwrap())),
            )
            .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
            .env("COMPETITION_ID", self.competition)
            .env("MLE_STAR", env!("CARGO_BIN_EXE_mle-star"))
            .env("MLE_STAR_PYTHON", mle_star_needs::python_with_libraries())
            .env("MLE_STAR_COPY_SECS", "1")
            .envs(
                ["SUBMISSION", "LOGS", "CODE", "AGENT"]
                    .map(|name| (format!("{name}_DIR"), format!("/home/{}", name.to_lowercase()))),
            )
            .envs(variables.iter().copied());
        command.output().unwrap()
    }

    /// Checks that MLE-bench finds the submission valid; its score.
    fn score(&self, said: &str) -> f64 {
        let submission = self.text("out/submission/submission.csv");
        assert!(Path::new(&submission).exists(), "{said}");
        let graded = self.code(&["grade", &self.text("data"), self.competition, &submission]);
        let graded: Value = serde_json::from_str(&graded).unwrap();
        assert_eq!(graded["valid"], true, "{graded} {said}");
        assert_eq!(graded["report"]["valid_submission"], true, "{graded}");
        graded["report"]["score"].as_f64().unwrap()
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap()
}

fn tests() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mle_bench")
}

fn integration() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../integrations/mle-bench")
}

fn code(arguments: &[&str], folder: &Path) -> String {
    let output = Command::new(variable("MLE_STAR_TEST_MLEBENCH_PYTHON"))
        .arg(tests().join("bench.py"))
        .arg(variable("MLE_STAR_TEST_MLEBENCH"))
        .args(arguments)
        .current_dir(folder)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().last().unwrap_or_default().to_owned()
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text)).concat()
}

#[test]
fn mle_bench_grades_the_submission_of_a_whole_run() {
    needs!(Libraries, Named("MLE_STAR_TEST_MLEBENCH"), Named("MLE_STAR_TEST_MLEBENCH_PYTHON"));
    let bench = Bench::prepare(SPOOKY);
    let output = bench.run("mle-star/offline-dev", &[], &[]);
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("mle-star ended with 0") && said.contains("id_column: id"), "{said}");
    // Guessing has log(3).
    let score = bench.score(&said);
    assert!(score < 1.0, "{score} {said}");
    for file in
        ["logs/report.html", "logs/events.jsonl", "logs/journal.db", "logs/result.json", "code/solution.py"]
    {
        assert!(fs::metadata(bench.path("out").join(file)).is_ok_and(|meta| meta.len() > 0), "{file} {said}");
    }
    assert!(!bench.path("out/logs/provisional.json").exists());
}

#[test]
fn mle_bench_grades_what_is_there_when_the_time_is_over_without_namespaces() {
    needs!(Libraries, Named("MLE_STAR_TEST_MLEBENCH"), Named("MLE_STAR_TEST_MLEBENCH_PYTHON"));
    let bench = Bench::prepare(NOMAD);
    let limits = [("TIME_LIMIT_SECS", "100"), ("NO_NAMESPACES", "1")];
    let began = std::time::Instant::now();
    let output = bench.run("mle-star/offline", &limits, &["--outer_loop_steps", "50"]);
    let said = said(&output);
    assert!(output.status.success(), "{said}");
    assert!(began.elapsed().as_secs() < 110, "{:?} {said}", began.elapsed());
    assert!(said.contains("holdout: off (") && said.contains("not enforced: "), "{said}");
    // The logarithms of both targets deviate by about 0.2 from their means.
    let score = bench.score(&said);
    assert!(score < 0.15, "{score} {said}");
}

#[test]
fn mle_bench_grades_the_best_submission_so_far_of_a_run_that_was_killed() {
    needs!(Libraries, Named("MLE_STAR_TEST_MLEBENCH"), Named("MLE_STAR_TEST_MLEBENCH_PYTHON"));
    let bench = Bench::prepare(NOMAD);
    let program = bench.path("killed");
    let lines = format!(
        "#!/bin/bash\n[ \"$1\" = run ] || exec {0} \"$@\"\n{0} \"$@\" &\n\
         until [ -s /home/agent/work.*/runs/bench/final/submission.csv ]; do sleep 0.2; done\nkill -9 $!\nwait $!\n",
        env!("CARGO_BIN_EXE_mle-star")
    );
    fs::write(&program, lines).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let output = bench.run("mle-star/offline", &[("MLE_STAR", program.to_str().unwrap())], &[]);
    let said = said(&output);
    assert!(output.status.success() && said.contains("mle-star ended with 137"), "{said}");
    assert!(bench.score(&said) < 0.3, "{said}");
    assert!(
        bench.path("out/logs/report.html").exists() && bench.path("out/logs/provisional.json").exists(),
        "{said}"
    );
}

#[test]
fn mle_bench_without_a_submission_is_a_failure_with_its_reason() {
    needs!(Libraries, Named("MLE_STAR_TEST_MLEBENCH"), Named("MLE_STAR_TEST_MLEBENCH_PYTHON"));
    let bench = Bench::prepare(SPOOKY);
    let check = |arguments: &[&str], reason: &str, code: i32| {
        let output = bench.run("mle-star/offline-dev", &[], arguments);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(reason), "{said}");
        assert!(!bench.path("out/submission/submission.csv").exists(), "{said}");
    };
    check(&["--ensemble_rounds", "0"], "ensemble_rounds must be at least 1", 2);
    check(&["--agents"], "--agents has no value", 2);
    check(&["--target", "nothing"], "\"nothing\" is not in train.csv", 2);
}
