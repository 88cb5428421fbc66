//! Models provided by the user, blocked pages, and both in the report.

use std::fs;

use serde_json::{Value, json};

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::{Said, Sealed};

const MODELS: &str = "- model_name: mine\n  example_code: fit()\n  sources: ['https://a.org/x']\n\
                      - model_name: yours\n  example_code: fit()\n- model_name: third\n  example_code: fit()\n";

/// Runs the task as `r` with successful scripts.
fn run(sealed: &Sealed, more: &str) -> Said {
    let python = interpreter(sealed, &format!("{SUBMIT}; {SCORE}"));
    sealed.run(&format!("run data --run-id r --agents offline --set python={python} {SMALL} {more}"))
}

fn json_of(sealed: &Sealed, name: &str) -> Value {
    serde_json::from_str(&sealed.read(name)).unwrap()
}

#[test]
fn models_given_by_hand_are_frozen_with_the_run() {
    let sealed = Sealed::with(&[("models.yaml", MODELS)]);
    let said = run(&sealed, "--set retrieved_models=models.yaml");
    assert_eq!(said.code, 0, "{said:?}");
    for part in ["models: 3 given in ", "models.yaml; the retriever is not used", "the first 2 are tried"] {
        assert!(said.stderr.contains(part), "{part}: {said:?}");
    }
    assert!(!said.stderr.contains("no effect"), "{said:?}");
    let phase1 = json_of(&sealed, "runs/r/result.json")["phase1"].clone();
    assert_eq!(phase1["retrieval"], "file");
    assert_eq!(phase1["candidate_solutions"].as_array().unwrap().len(), 2);
    let names: Vec<&str> = phase1["retrieved_models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["model_name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["mine", "yours"]);
    assert!(!sealed.run("show r --json").stdout.contains("phase1/retriever"));

    // The file is not needed any more; its copy is the run's.
    fs::remove_file(sealed.path("models.yaml")).unwrap();
    fs::remove_file(sealed.path("runs/r/result.json")).unwrap();
    let said = sealed.run("resume r");
    assert!(said.code == 0 && said.stderr.contains("models: 3 given in "), "{said:?}");
}

#[test]
fn an_edit_of_the_frozen_models_is_reported() {
    let check = |more: &str, change: &dyn Fn(&Sealed), part: &str| {
        let sealed = Sealed::with(&[("models.yaml", MODELS)]);
        assert_eq!(run(&sealed, more).code, 0);
        change(&sealed);
        let said = sealed.run("resume r");
        assert!(said.code == 2 && said.stderr.contains(part), "{part}: {said:?}");
    };
    let file = "runs/r/models.json";
    let given = "--set retrieved_models=models.yaml";
    let rename = |sealed: &Sealed| {
        let text = sealed.read(file).replace("yours", "theirs");
        sealed.write(file, text.as_bytes());
    };
    check(given, &rename, "models.json has changed since the run started");
    check(given, &|sealed| fs::remove_file(sealed.path(file)).unwrap(), "cannot read models.json of the run");
    check("", &|sealed| sealed.write(file, b"[]"), "models.json was added");
}

#[test]
fn solution_pages_are_blocked_unless_said_otherwise() {
    let check = |more: &str, expected: &[&str], note: bool| {
        let sealed = Sealed::with(&[("data/task.yaml", "competition_id: toy\nevaluation_metric: RMSE\n")]);
        let said = run(&sealed, more);
        assert_eq!(said.code, 0, "{said:?}");
        let blocked = json_of(&sealed, "runs/r/config.json")["search_blocked_domains"].clone();
        let blocked: Vec<&str> =
            blocked.as_array().unwrap().iter().map(|rule| rule.as_str().unwrap()).collect();
        assert!(expected.iter().all(|rule| blocked.contains(rule)), "{more}: {blocked:?}");
        assert!(more.is_empty() || blocked == expected, "{more}: {blocked:?}");
        let noted = said.stderr.contains("note: no effect with the offline agents: search_blocked_domains\n");
        assert_eq!(noted, note, "{said:?}");
    };
    check("", &["kaggle.com/competitions/toy/discussion", "kaggle.com/c/toy/code"], false);
    check("--set search_blocked_domains=[a.org]", &["a.org"], true);
    check("--set search_blocked_domains=[https://www.a.org/x/]", &["a.org/x"], true);
    check("--set search_blocked_domains=[]", &[], false);
}

#[test]
fn the_report_shows_sources_and_lookups_and_only_web_addresses_as_links() {
    let sealed = Sealed::with(&[]);
    assert_eq!(run(&sealed, "").code, 0);
    let report = sealed.read("runs/r/report.html");
    assert!(report.contains("rules of the offline agents") && !report.contains("<a href=\"http"), "{report}");

    let mut result = json_of(&sealed, "runs/r/result.json");
    let phase1 = &mut result["phase1"];
    phase1["retrieval"] = json!("web");
    phase1["retrieved_models"][0]["model_name"] = json!("<b>evil</b>");
    phase1["retrieved_models"][0]["sources"] =
        json!(["https://a.org/x?y=1&z", "https://b.org/\" onclick=\"alert(1)", "javascript:alert(1)"]);
    phase1["lookups"] = json!([
        {"tool": "WebSearch", "what": "best <i>models</i>"},
        {"tool": "WebFetch", "what": "https://a.org/x?y=1&z"},
        {"tool": "WebFetch", "what": "JavaScript:alert(2)", "failure": "<u>closed</u>"},
    ]);
    sealed.write("runs/r/result.json", result.to_string().as_bytes());
    assert_eq!(sealed.run("report r").code, 0);
    let report = sealed.read("runs/r/report.html");
    let links: Vec<&str> =
        report.split("<a href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    // Downloads are in the report itself.
    let is_inside = |link: &&str| link.starts_with('#') || link.starts_with("data:");
    let outward: Vec<&str> = links.into_iter().filter(|link| !is_inside(link)).collect();
    let link = "https://a.org/x?y=1&amp;z";
    assert_eq!(outward, [link, link]);
    for part in [
        "by the retriever on the web",
        "&lt;b&gt;evil&lt;/b&gt;",
        "<span class=\"soft\">(read)</span>",
        "javascript:alert(1)",
        "best &lt;i&gt;models",
        "JavaScript:alert(2)",
        "<td class=\"bad\">&lt;u&gt;closed",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    for evil in ["<b>evil", "<i>models", "<u>closed", "\" onclick"] {
        assert!(!report.contains(evil), "{evil}");
    }
}
