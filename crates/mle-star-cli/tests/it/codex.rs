//! Runs whose agents are behind `codex`: the real one against an endpoint on loopback, and a script in its place.

use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use mle_star_domain::role::AgentType;
use mle_star_needs::needs;
use serde_json::{Value, json};

use crate::endpoint::{answer, holds_key};
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::real_runs::closed::in_closed_network;
use crate::sealed::{Said, Sealed};

/// The key, which nothing may show or keep.
const KEY: (&str, &str) = ("CODEX_API_KEY", "sk-very-secret");
/// A script in the place of `codex`.
const STAND_IN: &str = "#!/bin/sh\necho codex-cli 0.169.0\n";

/// A folder with a script in the place of `codex`, and settings in which every agent has a model of its own name.
fn sealed(script: &str) -> Sealed {
    let named = |line: &dyn Fn(&str) -> String| AgentType::ALL.map(|agent| line(agent.name())).concat();
    let models = named(&|name| format!("  {name}: {name}\n"));
    let prices = named(&|name| format!("  {name}: {{input: 50, output: 250}}\n"));
    let settings = format!("agents: codex\nmodel: init\nagent_models:\n{models}prices:\n{prices}");
    let sealed = Sealed::with(&[("c.yaml", &settings)]);
    sealed.write("codex", script.as_bytes());
    std::fs::set_permissions(sealed.path("codex"), std::fs::Permissions::from_mode(0o755)).unwrap();
    sealed
}

fn say(sealed: &Sealed, line: &str) -> Said {
    let codex = sealed.path("codex").display().to_string();
    let said = sealed.run_with(line, &[KEY, ("MLE_STAR_CODEX_PATH", &codex)]);
    assert!(!format!("{said:?}").contains("very-secret"), "{said:?}");
    said
}

/// Serves the responses format; the model is the agent. `merger` has no login while `refuses`.
async fn serve(asked: Arc<Mutex<Vec<Value>>>, refuses: Arc<Mutex<bool>>) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let service = Router::new().fallback(move |request: Request| {
        let (asked, refuses) = (Arc::clone(&asked), *refuses.lock().unwrap());
        async move { respond(request, &asked, refuses).await }
    });
    tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
    url
}

async fn respond(request: Request, asked: &Mutex<Vec<Value>>, refuses: bool) -> Response {
    let (parts, body) = request.into_parts();
    assert_eq!(
        (parts.uri.path(), &parts.headers["authorization"]),
        ("/v1/responses", &"Bearer sk-very-secret".parse().unwrap())
    );
    let body: Value = serde_json::from_slice(&to_bytes(body, usize::MAX).await.unwrap()).unwrap();
    let (agent, prompt) =
        (body["model"].as_str().unwrap(), body["input"][1]["content"][0]["text"].as_str().unwrap());
    if refuses && agent == "merger" {
        let error = json!({"error": {"message": "Incorrect API key provided: sk-very-secret"}});
        return (StatusCode::UNAUTHORIZED, error.to_string()).into_response();
    }
    let text = answer(agent, prompt, body["text"]["format"].is_object());
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content});
    let usage = json!({"input_tokens": 100, "output_tokens": 20, "total_tokens": 120});
    let response = json!({"id": "resp_1", "status": "completed", "output": [message], "usage": usage});
    let events = [
        json!({"type": "response.created", "response": {"id": "resp_1"}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": message}),
        json!({"type": "response.completed", "response": response}),
    ];
    asked.lock().unwrap().push(body);
    let line = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    ([(header::CONTENT_TYPE, "text/event-stream")], events.iter().map(line).collect::<String>())
        .into_response()
}

/// Starts the real `codex` with the endpoint as its service.
fn launcher(url: &str) -> String {
    let codex = std::env::var("MLE_STAR_TEST_CODEX").expect("MLE_STAR_TEST_CODEX names the real codex");
    let provider = format!(
        "model_providers.loopback={{name=\"loopback\",base_url=\"{url}\",env_key=\"CODEX_API_KEY\"}}"
    );
    format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec '{codex}' --version\n\
         exec '{codex}' \"$@\" -c 'model_provider=\"loopback\"' -c '{provider}'\n"
    )
}

#[test]
fn a_run_is_answered_by_the_real_codex() {
    needs!(ClosedNetwork, Named("MLE_STAR_TEST_CODEX"));
    in_closed_network("codex::a_run_is_answered_by_the_real_codex", async {
        let (asked, refuses) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::new(Mutex::new(true)));
        let url = serve(Arc::clone(&asked), Arc::clone(&refuses)).await;
        let work = move || {
            let sealed = sealed(&launcher(&url));
            let python = interpreter(&sealed, &format!("{SUBMIT}; {SCORE}"));
            let line = format!("run data --config c.yaml --run-id r --set python={python} {SMALL}");
            let refused = say(&sealed, &line);
            assert_eq!(refused.code, 1, "{refused:?}");
            let error = "error: the login was refused: unexpected status 401 Unauthorized: Incorrect API key provided: [key]";
            assert!(
                refused.stderr.contains(error) && refused.stderr.contains("hint: check CODEX_API_KEY"),
                "{refused:?}"
            );
            *refuses.lock().unwrap() = false;
            let said = say(&sealed, "resume r");
            assert_eq!(said.code, 0, "{said:?}");
            let result: Value = serde_json::from_str(&sealed.read("runs/r/result.json")).unwrap();
            let asked = asked.lock().unwrap();
            let calls = u32::try_from(asked.len()).unwrap();
            let cost = result["total_cost_usd"].as_f64().unwrap();
            // 100 tokens at 50 dollars and 20 at 250 a million.
            assert!((cost - 0.01 * f64::from(calls)).abs() < 1e-9, "{cost} for {calls}");
            assert_eq!(
                (&result["config"]["agents"], &result["config"]["search"]),
                (&json!("codex"), &json!("on"))
            );
            let searched = asked.iter().filter(|body| body["tools"].to_string().contains("web_search"));
            assert!(
                searched.clone().count() > 0 && searched.clone().all(|body| body["model"] == "retriever")
            );
            assert!(sealed.read("runs/r/solutions/phase2.path-0.t0.k0.run.py").contains("block = 2"));
            assert!(sealed.read("runs/r/report.html").contains("codex 0.169.0"));
            let first = refused.stderr.lines().next().unwrap();
            assert_eq!(first, "agents: codex (CODEX_API_KEY is set; codex 0.169.0)");
            assert!(!sealed.path("runs/r/work/agents").exists() && !holds_key(&sealed.path("")));
        };
        tokio::task::spawn_blocking(work).await.unwrap();
    });
}

#[test]
fn what_is_missing_is_bad_usage() {
    let check = |line: &str, environment: &[(&str, &str)], error: &str, hint: &str| {
        let sealed = sealed(STAND_IN);
        let said = sealed.run_with(&format!("run data --agents codex {line}"), environment);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(&format!("error: {error}")) && said.stderr.contains(hint), "{said:?}");
        assert!(!sealed.path("runs").exists(), "{said:?}");
    };
    check("--model m", &[], "no CODEX_API_KEY and no stored login of codex", "codex login");
    let nowhere = ("MLE_STAR_CODEX_PATH", "/no/codex");
    check("--model m", &[KEY, nowhere], "no executable codex at /no/codex", "npm install -g @openai/codex");
    check("--model m --set codex_path=./codex2", &[KEY], "no executable codex at ", "codex_path");
    check("--model m --set codex_path=./data/train.csv", &[KEY], "no executable codex at ", "codex_path");
    check("--set codex_path=./codex", &[KEY], "agents: codex needs a model", "--model");
}

#[test]
fn doctor_tells_of_codex_and_its_login() {
    let sealed = sealed(STAND_IN);
    let text = say(&sealed, "doctor --config c.yaml").stdout;
    let path = sealed.path("codex").display().to_string();
    assert!(text.contains(&format!("codex:       0.169.0 ({path}), login: CODEX_API_KEY\n")), "{text}");
    assert!(text.contains("agents:      codex (CODEX_API_KEY is set; codex 0.169.0)\n"), "{text}");
    let found: Value = serde_json::from_str(&say(&sealed, "doctor --config c.yaml --json").stdout).unwrap();
    assert_eq!(
        (&found["codex"]["version"], &found["codex_login"]),
        (&json!("0.169.0"), &json!("CODEX_API_KEY"))
    );
    let auto = say(&sealed, "doctor").stdout;
    let why = "for a model, use --agents claude or codex)\n";
    assert!(auto.contains("agents:      offline (") && auto.contains(why), "{auto}");
    let without = sealed.run_with("doctor", &[("MLE_STAR_CODEX_PATH", &path)]).stdout;
    assert!(without.contains("no login: set CODEX_API_KEY, or log in with `codex login`"), "{without}");
    let nobody = sealed.run_with("doctor", &[("MLE_STAR_CODEX_PATH", "/no/codex")]).stdout;
    assert!(nobody.contains("codex:       no executable codex at /no/codex; install it with"), "{nobody}");
}
