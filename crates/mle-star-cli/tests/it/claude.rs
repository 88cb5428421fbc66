//! Runs whose agents use a model. The executable is a shell script that answers every role in the messages of
//! `claude`, with costs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::Value;

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::{Said, Sealed};

/// Answers by role: a structured answer, or a text.
const ANSWERS: &str = r#"
case "$MLE_STAR_AGENT$MLE_STAR_VARIANT" in
  retriever) S='{"models":[{"model_name":"one","example_code":"fit()"},{"model_name":"two","example_code":"fit()"}]}' ;;
  leakagedetection) S='{"answers":[{"leakage_status":"No Data Leakage","code_block":""}]}' ;;
  extractor) S='{"plans":[{"code_block":"block = 1","plan":"change the block"}]}' ;;
  data) T='All the provided information is used.' ;;
  testsubsampling_extract) T='There is no subsampling.' ;;
  coder) T='```python\nblock = 2\n```' ;;
  summarize) case "$MLE_STAR_PLACE" in probe) S='{"answer":42}' ;; *) T='The block matters.' ;; esac ;;
  *planner) T='Do something.' ;;
  *) T='```python\nblock = 1\nprint(block)\n```' ;;
esac
"#;

/// The end of a successful conversation.
pub const WELL: &str = r#"
[ -n "$T" ] && printf '%s\n' '{"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-x","content":[{"type":"text","text":"'"$T"'"}]},"parent_tool_use_id":null}'
COST=${COST-'"total_cost_usd":0.01,'}
BASIS=${BASIS-list}
printf '%s\n' '{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","stop_reason":"end_turn","result":"'"$T"'",'"${S:+\"structured_output\":$S,}$COST"'"modelUsage":{"claude-x":{"inputTokens":100,"outputTokens":20,"cacheReadInputTokens":30,"cacheCreationInputTokens":0,"costUSD":0.01,"costBasis":"'$BASIS'"}}}'
"#;

/// The end of a conversation whose login was refused.
const REFUSED: &str = r#"
echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,"terminal_reason":"api_error","result":"Invalid API key","total_cost_usd":0}'
exit 1
"#;

/// The settings that select `claude`.
pub const KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "very-secret");

/// Creates `bin/claude`, which ends every conversation in this way. It reads the prompt only to its end.
pub fn claude(sealed: &Sealed, end: &str) {
    let version = "case \"$*\" in *--version*) echo '2.1.329 (Claude Code)'; exit ;; esac";
    let read = "while read -r line; do case \"$line\" in *'\"type\":\"user\"'*) break ;; esac; done";
    let script = format!("#!/bin/sh\n{version}\n{read}\nS= T=\n{ANSWERS}\n{end}\n");
    sealed.write("bin/claude", script.as_bytes());
    fs::set_permissions(sealed.path("bin/claude"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the binary with that `claude` on its path.
pub fn say(sealed: &Sealed, line: &str, environment: &[(&str, &str)]) -> Said {
    let path = format!("{}:/usr/bin:/bin", sealed.path("bin").display());
    let environment: Vec<(&str, &str)> =
        [("PATH", path.as_str())].into_iter().chain(environment.iter().copied()).collect();
    sealed.run_with(line, &environment)
}

/// The command line of a small run called `r`.
pub fn run_line(sealed: &Sealed) -> String {
    let python = interpreter(sealed, &format!("{SUBMIT}; {SCORE}"));
    format!("run data --run-id r --set python={python} --set max_budget_usd=100 {SMALL}")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn what_a_run_cost_is_told_everywhere() {
    let sealed = Sealed::with(&[]);
    claude(&sealed, WELL);
    let said = say(&sealed, &run_line(&sealed), &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    let first = said.stderr.lines().next().unwrap();
    assert_eq!(first, "agents: claude (ANTHROPIC_API_KEY is set; claude 2.1.329)");
    let result = json(&sealed.read("runs/r/result.json"));
    let usage = &result["usage"];
    let calls: u64 =
        usage["by_role"].as_object().unwrap().values().map(|role| role["calls"].as_u64().unwrap()).sum();
    let cost = result["total_cost_usd"].as_f64().unwrap();
    assert!((cost - 0.01 * f64::from(u32::try_from(calls).unwrap())).abs() < 1e-9, "{usage}");
    assert_eq!(usage["by_phase"]["phase1"]["cost_usd"], result["costs"]["phase1_cost_usd"]);
    assert_eq!(usage["by_path"]["path-1"]["cost_usd"], result["costs"]["phase2_per_path_cost_usd"][1]);
    assert_eq!(usage["by_role"]["retriever"]["cache_read"], 30);
    let line = format!("${cost:.2} for {calls} calls, ");
    assert!(said.stderr.contains(&format!("cost: {line}")), "{line}: {said:?}");
    let show = say(&sealed, "show r", &[]).stdout;
    for part in [line.as_str(), "cost by phase", "cost by path", "cost by role", "  path 2 ", "  leakage "] {
        assert!(show.contains(part), "{part}: {show}");
    }
    let listed = say(&sealed, "list", &[]).stdout;
    assert!(listed.lines().nth(1).unwrap().ends_with(&format!("${cost:.2}")), "{listed}");
    assert_eq!(json(&say(&sealed, "show r --json", &[]).stdout)["usage"], *usage);
    let report = sealed.read("runs/r/report.html");
    assert!(
        report.contains(&line)
            && report.contains("<caption>Cost by role</caption>")
            && report.contains("<caption>Cost by path</caption>"),
        "{report}"
    );
    assert!(!sealed.path("runs/r/work").exists(), "the agents' folder is gone");
}

#[test]
fn rules_cost_nothing_and_nothing_is_said_of_money() {
    let sealed = Sealed::with(&[]);
    let said = say(&sealed, &run_line(&sealed), &[]);
    assert_eq!(said.code, 0, "{said:?}");
    for text in [&said.stderr, &say(&sealed, "show r", &[]).stdout, &sealed.read("runs/r/report.html")] {
        let noted =
            ["cost:", "cost by", "<dt>cost", "<h2>Cost", "$0"].into_iter().find(|word| text.contains(word));
        assert_eq!(noted, None, "{text}");
    }
}

#[test]
fn a_run_goes_on_with_the_agents_it_began_with() {
    let sealed = Sealed::with(&[]);
    let first = format!("case $MLE_STAR_AGENT in retriever) {WELL} ;; *) {REFUSED} ;; esac");
    claude(&sealed, &first);
    let said = say(&sealed, &run_line(&sealed), &[KEY]);
    assert!(said.code == 1 && said.stderr.contains("cost so far: "), "{said:?}");
    // The other candidate may have been in progress.
    let is_known = said.stderr.contains("cost so far: $0.01");
    assert!(is_known || said.stderr.contains(" of it is estimated, with 1 interrupted call"), "{said:?}");
    assert!(
        said.stderr.contains("error: the login was refused: Invalid API key\nhint: check ANTHROPIC"),
        "{said:?}"
    );
    let usage = |run: &str| json(&say(&sealed, &format!("show {run} --json"), &[]).stdout)["usage"].clone();
    // Both candidates are called concurrently: the other call may have been interrupted or not have begun.
    let init = &usage("r")["by_role"]["init"];
    let known = init["cost_usd"].as_f64().unwrap() - init["estimated_usd"].as_f64().unwrap_or(0.0);
    assert_eq!((&init["calls"], known), (&1.into(), 0.0), "{init}");
    let said = say(&sealed, "resume r", &[]);
    assert!(said.code == 2 && said.stderr.contains("no ANTHROPIC_API_KEY"), "{said:?}");
    claude(&sealed, WELL);
    let said = say(&sealed, "resume r", &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.starts_with("agents: claude ("), "{said:?}");
}

#[test]
fn what_a_call_cost_that_was_cut_off_is_estimated() {
    let sealed = Sealed::with(&[]);
    let hang = "while read -r line; do :; done; exit 1"; // until its input ends
    claude(&sealed, &format!("case $MLE_STAR_PLACE in phase1/merge-1/merger) {hang} ;; esac\n{WELL}"));
    let path = format!("{}:/usr/bin:/bin", sealed.path("bin").display());
    let mut run = sealed.command(&format!("{} --json", run_line(&sealed)));
    let mut run =
        run.envs([KEY, ("PATH", &path)]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
    let is_merger = |line: String| line.contains("agent_started") && line.contains("phase1/merge-1/merger");
    assert!(lines.into_iter().any(is_merger), "the merger was never asked");
    let noted = " of it is estimated, with 1 interrupted call";
    let running = say(&sealed, "show r", &[]).stdout;
    assert!(
        running.contains("(running)") && running.contains("cost: ") && !running.contains(noted),
        "{running}"
    );
    run.kill().unwrap();
    run.wait().unwrap();
    // A child that it was just starting may hold its lock until exec.
    fs::File::open(sealed.path("runs/r/journal.lock")).unwrap().lock_shared().unwrap();
    let killed = say(&sealed, "show r", &[]).stdout;
    assert!(killed.contains(noted), "{killed}");
    claude(&sealed, WELL);
    let said = say(&sealed, "resume r", &[KEY]);
    assert!(said.code == 0 && said.stderr.contains(noted), "{said:?}");
    let result = json(&sealed.read("runs/r/result.json"));
    let estimated = result["estimated_cost_usd"].as_f64().unwrap();
    assert!(estimated > 0.0 && estimated < result["total_cost_usd"].as_f64().unwrap(), "{estimated}");
    let usage = &result["usage"];
    assert_eq!((&usage["interrupted_calls"], &usage["by_role"]["merger"]["calls"]), (&1.into(), &1.into()));
}

#[test]
fn a_model_may_do_what_rules_cannot() {
    let task = "data_dir: images\nevaluation_metric: error_of_words\nmetric_direction: minimize\n";
    let sealed = Sealed::with(&[("task.yaml", task), ("images/one.png", "png")]);
    claude(&sealed, WELL);
    let said = say(&sealed, "run task.yaml --estimate", &[]);
    assert!(said.code == 2 && said.stderr.contains("train"), "{said:?}");
    let said = say(&sealed, "run task.yaml --estimate --agents claude", &[KEY]);
    assert!(said.code == 0 && said.stderr.contains("note: the tables were not profiled: "), "{said:?}");
}

#[test]
fn an_estimate_leaves_nothing_behind() {
    let task = "competition_id: t\nevaluation_metric: RMSE\nmetric_direction: minimize\n\
                description: Predict the price.\ndata_dir: data\ntarget_column: price\noutput_dir: out/deep\n";
    let sealed = Sealed::with(&[("task.yaml", task)]);
    let before = (sealed.names("."), sealed.names("data"));
    let said = sealed.run("run task.yaml --agents offline --estimate");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!((sealed.names("."), sealed.names("data")), before, "{said:?}");
    let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
    let said = sealed.run(&format!("run task.yaml --agents offline --set python={python} {SMALL}"));
    assert!(said.code == 0 && sealed.path("out/deep/submission.csv").exists(), "{said:?}");
}

#[test]
fn an_estimate_counts_what_a_run_will_do_and_makes_none() {
    let sealed = Sealed::with(&[]);
    claude(&sealed, WELL);
    // With the paper's calls, an uneventful run makes the fewest.
    let line = |sealed: &Sealed| format!("{} --set context=paper --set leakage_check=each", run_line(sealed));
    let estimate = |more: &str, environment: &[(&str, &str)]| {
        let said = say(&sealed, &format!("{} --estimate {more}", line(&sealed)), environment);
        assert_eq!(said.code, 0, "{said:?}");
        said.stdout
    };
    let rules = estimate("", &[]);
    assert!(rules.contains("cost: none") && rules.contains("agent calls  script runs"), "{rules}");
    let assumed = estimate("--max-budget-usd 0.0001 --set agent_models.coder=haiku", &[KEY]);
    for part in ["cost: $", ", by list prices", "$0.0001 will end"] {
        assert!(assumed.contains(part), "{part}: {assumed}");
    }
    assert!(!sealed.path("runs").exists());

    assert_eq!(say(&sealed, &line(&sealed), &[KEY]).code, 0);
    let usage = &json(&sealed.read("runs/r/result.json"))["usage"];
    let made: u64 =
        usage["by_role"].as_object().unwrap().values().map(|role| role["calls"].as_u64().unwrap()).sum();
    let estimated = json(&estimate("--json", &[KEY]));
    assert_eq!(estimated["calls"]["fewest"], made);
    assert!(estimated["cost_usd"][1].as_f64() > estimated["cost_usd"][0].as_f64(), "{estimated}");
    assert_eq!(sealed.names("runs"), ["r"]);
}
