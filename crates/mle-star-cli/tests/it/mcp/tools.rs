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
    assert_eq!((&preview["metric"], &preview["target"]), (&json!("RMSE"), &json!("price")), "{preview}");
    assert!(preview["estimate"]["calls"]["fewest"].as_u64() > Some(3), "{preview}");
    let told = client.call("preview", &wish);
    assert!(text(&told).contains("fewest") && text(&told).contains("agent calls"), "{told}");
    assert_eq!(sealed.names("runs"), Vec::<String>::new(), "a preview starts nothing");

    // A server that was killed left the output of a process that it started.
    sealed.write("runs/.started-left.log", b"");
    let started = client.data("run", &wish);
    assert!(!sealed.path("runs/.started-left.log").exists());
    let folder = sealed.path("").canonicalize().unwrap().join("runs/r");
    assert_eq!(started["folder"], folder.display().to_string(), "{started}");
    let seen = client.watch_to_the_end(&started["run_id"]);
    assert_eq!((&seen["state"], &seen["exit_code"]), (&json!("finished"), &json!(0)), "{seen}");
    assert_eq!(seen["best_score"], 0.5, "{seen}");

    let worth = client.data("result", &json!({"run": "r"}));
    assert_eq!((&worth["validation_score"], &worth["is_final"]), (&json!(0.5), &json!(true)), "{worth}");
    for file in ["submission", "solution", "report", "result"] {
        let path = worth[file].as_str().unwrap_or_else(|| panic!("{file}: {worth}"));
        assert!(std::path::Path::new(path).is_file(), "{file}: {worth}");
    }
    let shown: Value = serde_json::from_str(&sealed.run("show r --json").stdout).unwrap();
    let tool = client.data("show", &json!({"run": "r", "steps": 1000}));
    assert_eq!((&tool["run"], &tool["steps"]), (&shown["run"], &shown["steps"]));
    let cut = client.data("show", &json!({"run": "r", "steps": 2}));
    let all = shown["steps"].as_array().unwrap().len();
    assert_eq!(cut["steps_left_out"], all - 2, "{cut}");
    let script = client.data("show", &json!({"run": "r", "place": "finalization"}));
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
    let nothing = client.data("watch", &json!({"run": "r", "until": "end", "wait_seconds": 1}));
    assert_eq!(nothing["state"], "running", "{nothing}");
    let all = client.data("watch", &json!({"run": "r", "since": 0, "wait_seconds": 60}));
    let is_begin = |news: &Value| news.as_str().unwrap().starts_with("=== Phase 1");
    assert!(all["news"].as_array().unwrap().iter().any(is_begin), "{all}");
    let call = |since: &Value, wait: u64| {
        json!({"name": "watch", "arguments": {"run": "r", "until": "end", "wait_seconds": wait, "since": since},
            "_meta": {"progressToken": "token"}})
    };
    let quiet = client.ask("tools/call", &call(&all["next"], 6))["result"]["structuredContent"].clone();
    assert_eq!((&quiet["news"], &quiet["state"]), (&json!([]), &json!("running")), "{quiet}");
    check_progress(&client, "Phase 1");
    client.data("stop", &json!({"run": "r"}));

    let mut client = Client::of(&sealed);
    client.data("resume", &json!({"run": "r"}));
    let end = client.ask("tools/call", &call(&quiet["next"], 60))["result"].clone();
    assert!(text(&end).contains("run r is finished"), "{end}");
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
    assert!(client.error("resume", &json!({"run": "r"})).contains("already running"));
    let stopped = client.data("stop", &json!({"run": "r"}));
    assert_eq!(stopped["has_ended"], true, "{stopped}");
    let seen = client.data("watch", &json!({"run": "r"}));
    assert_eq!((&seen["state"], &seen["exit_code"]), (&json!("unfinished"), &json!(130)), "{seen}");
    let worth = client.data("result", &json!({"run": "r"}));
    assert_eq!((&worth["is_final"], &worth["submission"]), (&json!(false), &Value::Null), "{worth}");

    let mut client = Client::of(&sealed);
    assert_eq!(client.data("resume", &json!({"run": "r"}))["state"], "running");
    assert_eq!(client.watch_to_the_end(&json!("r"))["exit_code"], 0);
    assert!(client.error("stop", &json!({"run": "r"})).contains("no process works on this run"));
    assert!(client.error("resume", &json!({"run": "r"})).contains("this run has finished"));
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
    check("run", json!({"tsk": "data"}), &["unknown field `tsk`", "`task`"]);
    check("run", json!({}), &["missing field `task`"]);
    check("run", json!({"task": 7}), &["expected a string"]);
    check("run", json!({"task": "data", "target": "none"}), &["none"]);
    check("run", json!({"task": "data", "agents": "nobody"}), &["nobody"]);
    check("run", json!({"task": "data", "settings": {"holdot": 1}}), &["unknown config key", "holdout"]);
    check("run", json!({"task": "data", "run_id": "../x", "agents": "offline"}), &["invalid run ID"]);
    check("run", json!({"task": "data", "settings": {"python": "/no/python"}}), &["/no/python"]);
    check("preview", json!({"task": "nowhere"}), &["no such folder"]);
    check("check", json!({}), &["nothing to check"]);
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
        [json!({"source": LEAK}), json!({"paths": ["."]}), json!({"paths": ["leak.py", "clean.py"]})]
    {
        let found = client.data("check", &arguments);
        assert_eq!((&found["blocked"], found["files"].as_array().unwrap().len()), (&json!(1), 1), "{found}");
        let finding = &found["files"][0]["findings"][0];
        assert_eq!(finding["rule"], "scored-on-training-rows", "{found}");
    }
    let many = LEAK.repeat(60);
    let found = client.call("check", &json!({"source": many}));
    assert!(text(&found).len() < 20_000, "{}", text(&found).len());
    let shown = found["structuredContent"]["files"][0]["findings"].as_array().unwrap().len();
    let left_out = found["structuredContent"]["findings_left_out"].as_u64().unwrap();
    assert!(shown <= 40 && left_out > 0, "{shown}, {left_out}");
    // Stdin is the protocol's.
    assert!(client.error("check", &json!({"paths": ["-"]})).contains("nothing to check"));
}
