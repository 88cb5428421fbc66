//! What the tools do.

use serde_json::{Value, json};

use super::client::{Client, small_run, text};
use crate::sealed::Sealed;

#[test]
fn a_run_is_previewed_started_watched_and_read() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::of(&sealed);
    let wish = small_run(&sealed);
    let preview = client.data("preview", &wish);
    let task = &preview["task"];
    assert_eq!(
        (&task["evaluation_metric"], &task["target_column"]),
        (&json!("RMSE"), &json!("price")),
        "{preview}"
    );
    assert!(preview["calls"]["fewest"].as_u64() > Some(3), "{preview}");
    let told = client.call("preview", &wish);
    assert_eq!(serde_json::from_str::<Value>(text(&told)).unwrap(), told["structuredContent"]);
    assert_eq!(sealed.names("runs"), Vec::<String>::new(), "a preview starts nothing");

    let started = client.data("run", &wish);
    let folder = sealed.path("").canonicalize().unwrap().join("runs/r");
    assert_eq!(started["folder"], folder.display().to_string(), "{started}");
    let seen = client.watch_to_the_end(&started["run_id"]);
    assert_eq!((&seen["state"], &seen["exit_code"]), (&json!("finished"), &json!(0)), "{seen}");
    assert_eq!(seen["best_score"], 0.5, "{seen}");

    let worth = client.data("result", &json!({"run": "r"}));
    assert_eq!(
        (&worth["score"]["validation_score"], &worth["exit_code"]),
        (&json!(0.5), &json!(0)),
        "{worth}"
    );
    assert!(worth["steps"].is_null() && worth["result"].is_null(), "{worth}");
    for file in ["submission", "solution", "report", "result"] {
        let path = worth["files"][file].as_str().unwrap_or_else(|| panic!("{file}: {worth}"));
        assert!(std::path::Path::new(path).is_file(), "{file}: {worth}");
    }
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    let tool = client.data("show", &json!({"run": "r"}));
    assert_eq!((&tool["run"], &tool["steps"]), (&shown["run"], &shown["steps"]));
    let script = client.data("show", &json!({"run": "r", "code": "finalization"}));
    assert_eq!(
        script["script"].as_str().unwrap().trim_end(),
        sealed.read("runs/r/final/solution.py").trim_end()
    );
}

#[test]
fn watching_waits_for_news_and_says_what_was_missed() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::slow(&sealed);
    client.data("run", &small_run(&sealed));
    let nothing = client.data("watch", &json!({"run": "r", "until": "end", "wait": 1}));
    assert_eq!(nothing["state"], "running", "{nothing}");
    let all = client.data("watch", &json!({"run": "r", "since": 0, "wait": 60}));
    let is_begin = |news: &Value| news.as_str().unwrap().starts_with("=== Phase 1");
    assert!(all["news"].as_array().unwrap().iter().any(is_begin), "{all}");
    let call = |since: &Value, wait: u64| {
        json!({"name": "watch", "arguments": {"run": "r", "until": "end", "wait": wait, "since": since},
            "_meta": {"progressToken": "token"}})
    };
    let quiet = client.ask("tools/call", &call(&all["next"], 6))["result"]["structuredContent"].clone();
    assert_eq!((&quiet["news"], &quiet["state"]), (&json!([]), &json!("running")), "{quiet}");
    check_progress(&client, "Phase 1");
    client.data("stop", &json!({"run": "r"}));

    let mut client = Client::of(&sealed);
    client.data("resume", &json!({"run": "r"}));
    let end = client.ask("tools/call", &call(&quiet["next"], 60))["result"].clone();
    assert_eq!(end["structuredContent"]["state"], "finished", "{end}");
    assert!(end["structuredContent"]["news"].to_string().contains("LightGBM"), "{end}");
    check_progress(&client, "");

    // The run has ended long ago.
    let mut client = Client::of(&sealed);
    client.ask("tools/call", &call(&quiet["next"], 60));
    check_progress(&client, "LightGBM");
}

/// The client heard of progress, which grows, with `part` in a message.
fn check_progress(client: &Client, part: &str) {
    let heard = client.heard.iter().filter(|message| message["method"] == "notifications/progress");
    let heard: Vec<&Value> = heard.map(|message| &message["params"]).collect();
    assert!(heard.iter().all(|params| params["progressToken"] == "token"), "{heard:?}");
    assert!(heard.iter().any(|params| params["message"].as_str().unwrap().contains(part)), "{heard:?}");
    assert!(heard.is_sorted_by_key(|params| params["progress"].as_f64()), "{heard:?}");
}

#[test]
fn a_run_is_stopped_and_resumed() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::slow(&sealed);
    client.data("run", &small_run(&sealed));
    assert!(client.error("resume", &json!({"run": "r"})).contains("held by another process"));
    let stopped = client.data("stop", &json!({"run": "r"}));
    assert_eq!(stopped["state"], "unfinished", "{stopped}");
    let seen = client.data("watch", &json!({"run": "r"}));
    assert_eq!((&seen["state"], &seen["exit_code"]), (&json!("unfinished"), &json!(130)), "{seen}");
    let worth = client.data("result", &json!({"run": "r"}));
    assert_eq!((&worth["exit_code"], &worth["files"]["submission"]), (&Value::Null, &Value::Null), "{worth}");

    let mut client = Client::of(&sealed);
    assert_eq!(client.data("resume", &json!({"run": "r"}))["state"], "running");
    assert_eq!(client.watch_to_the_end(&json!("r"))["exit_code"], 0);
    assert!(client.error("stop", &json!({"run": "r"})).contains("no process works on this run"));
    assert_eq!(client.data("resume", &json!({"run": "r"}))["state"], "finished");
}

#[test]
fn runs_that_are_started_at_once_get_ids_of_their_own() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::of(&sealed);
    let mut wish = small_run(&sealed);
    wish.as_object_mut().unwrap().remove("run_id");
    let asked: Vec<u64> =
        (0..2).map(|_| client.begin("tools/call", &json!({"name": "run", "arguments": wish}))).collect();
    let mut answers: Vec<Value> = (0..2).map(|_| client.next()).collect();
    answers.retain(|answer| asked.iter().any(|id| answer["id"] == *id));
    let ids: Vec<&Value> =
        answers.iter().map(|answer| &answer["result"]["structuredContent"]["run_id"]).collect();
    assert!(ids.len() == 2 && ids[0] != ids[1] && ids.iter().all(|id| id.is_string()), "{answers:?}");
    for id in ids {
        assert_eq!(client.watch_to_the_end(id)["exit_code"], 0);
    }
}

#[test]
fn mistakes_are_errors_of_the_tool_with_a_hint() {
    let sealed = Sealed::with(&[]);
    let mut client = Client::of(&sealed);
    let mut check = |tool: &str, arguments: Value, parts: &[&str]| {
        let error = client.error(tool, &arguments);
        assert!(error.starts_with("error: ") && error.contains("\nhint: "), "{tool} {arguments}: {error}");
        for part in parts {
            assert!(error.contains(part), "{tool} {arguments}: {part}: {error}");
        }
    };
    check("run", json!({"task": "nowhere"}), &["no such folder or file: nowhere"]);
    check("run", json!({"tsk": "data"}), &["there is no argument tsk", "did you mean task?"]);
    check("run", json!({}), &["<TASK>"]);
    check("run", json!({"task": 7}), &["no such folder or file: 7"]);
    check("run", json!({"task": "data", "target": "none"}), &["none"]);
    check("run", json!({"task": "data", "agents": "nobody"}), &["nobody"]);
    check("run", json!({"task": "data", "set": {"holdot": 1}}), &["unknown config key", "holdout"]);
    check("run", json!({"task": "data", "run_id": "../x", "agents": "offline"}), &["invalid run ID"]);
    check("run", json!({"task": "data", "set": {"python": "/no/python"}}), &["/no/python"]);
    check("preview", json!({"task": "nowhere"}), &["no such folder"]);
    check("check", json!({}), &["<SCRIPT>"]);
    for tool in ["watch", "show", "result", "stop", "resume"] {
        check(tool, json!({"run": "none"}), &["no run none in "]);
    }
    let asked = client.call("run", &json!({"task": "data", "metric": "energy score"}));
    let question = &asked["structuredContent"]["questions"][0];
    assert_eq!(
        (&question["field"], &question["option"]),
        (&json!("metric_direction"), &json!("--direction"))
    );
    assert_eq!(sealed.names("runs"), Vec::<String>::new());
}

#[test]
fn leaks_are_found_in_files_and_texts() {
    const LEAK: &str = "import pandas as pd\nfrom sklearn.linear_model import Ridge\n\
        train = pd.read_csv('train.csv')\nX, y = train[['size']], train['price']\nmodel = Ridge().fit(X, y)\n\
        print('Final Validation Performance:', ((model.predict(X) - y) ** 2).mean() ** 0.5)\n";
    let sealed = Sealed::with(&[("leak.py", LEAK), ("clean.py", "print(1)\n")]);
    let mut client = Client::of(&sealed);
    for arguments in
        [json!({"source": LEAK}), json!({"script": ["."]}), json!({"script": ["leak.py", "clean.py"]})]
    {
        let found = client.data("check", &arguments);
        assert_eq!((&found["blocked"], found["version"].as_u64()), (&json!(1), Some(1)), "{found}");
        let files = found["files"].as_array().unwrap();
        let finding = files.iter().find_map(|file| file["findings"].get(0)).unwrap();
        assert_eq!(finding["rule"], "scored-on-training-rows", "{found}");
    }
    let found = client.data("check", &json!({"source": LEAK.repeat(120)}));
    let shown = found["files"][0]["findings"].as_array().unwrap().len();
    assert!(shown <= 100 && found["left_out"]["files.0.findings"].as_u64() > Some(0), "{found}");
}
