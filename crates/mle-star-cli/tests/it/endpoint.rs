//! Runs whose agents are behind an endpoint. The test serves it on loopback: each agent has a model of its own name, by
//! which the endpoint knows whom to answer.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use mle_star_domain::role::AgentType;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::delivered::result;
use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::{Said, Sealed};

/// The key, which nothing may show or keep.
const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-very-secret");

/// An endpoint on loopback. Dropping it ends it.
struct Endpoint {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Value>>>,
    _runtime: Runtime,
}

impl Endpoint {
    /// Serves; `refuses` says for a model whether the key is refused.
    fn start(refuses: impl Fn(&str) -> bool + Clone + Send + Sync + 'static) -> Self {
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = Arc::<Mutex<Vec<Value>>>::default();
        let seen = Arc::clone(&asked);
        let service = Router::new().fallback(move |request: Request| {
            let (seen, refuses) = (Arc::clone(&seen), refuses.clone());
            async move { respond(request, &seen, &refuses).await }
        });
        runtime.spawn(async move { axum::serve(listener, service).await.unwrap() });
        Self { address, asked, _runtime: runtime }
    }

    fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The bodies of all questions.
    fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

async fn respond(
    request: Request,
    seen: &Mutex<Vec<Value>>,
    refuses: &(dyn Fn(&str) -> bool + Sync),
) -> Response {
    let (parts, body) = request.into_parts();
    if parts.uri.path() == "/v1/models" {
        return json!({"data": [{"id": "init"}, {"id": "coder"}]}).to_string().into_response();
    }
    let key = parts.headers.get(header::AUTHORIZATION).and_then(|key| key.to_str().ok()).unwrap_or_default();
    assert_eq!((parts.uri.path(), key), ("/v1/chat/completions", "Bearer sk-very-secret"));
    let body: Value = serde_json::from_slice(&to_bytes(body, usize::MAX).await.unwrap()).unwrap();
    let (model, prompt) = (body["model"].as_str().unwrap(), body["messages"][1]["content"].as_str().unwrap());
    if refuses(model) {
        let error = json!({"error": {"message": format!("Incorrect API key provided: {key}")}});
        return (StatusCode::UNAUTHORIZED, error.to_string()).into_response();
    }
    let text = answer(model, prompt, body.get("response_format").is_some());
    let event = |delta: Value, finish: Value| {
        format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
    };
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 20}});
    let stream = [
        event(json!({"content": text}), Value::Null),
        event(json!({}), json!("stop")),
        format!("data: {usage}\n\n"),
    ];
    seen.lock().unwrap().push(body);
    ([(header::CONTENT_TYPE, "text/event-stream")], stream.concat()).into_response()
}

/// What an agent answers.
pub(crate) fn answer(agent: &str, prompt: &str, is_structured: bool) -> &'static str {
    match (agent, is_structured) {
        ("retriever", _) if prompt.contains("# First: what to search for") => {
            r#"{"queries": ["small tables"]}"#
        }
        ("retriever", true) => {
            r#"{"models": [{"model_name": "one", "example_code": "fit()"}, {"model_name": "two", "example_code": "fit()"}]}"#
        }
        ("leakage", true) => r#"{"answers": [{"leakage_status": "No Data Leakage", "code_block": ""}]}"#,
        ("extractor", true) => r#"{"plans": [{"code_block": "block = 1", "plan": "change the block"}]}"#,
        ("data", _) => "All the provided information is used.",
        ("test", _) if prompt.contains("No subsampling found") => "No subsampling found.",
        ("coder", _) => "```python\nblock = 2\n```",
        ("summarize", true) => r#"{"answer": 42}"#,
        ("summarize", false) => "The block matters.",
        ("planner" | "ens_planner", _) => "Do something.",
        (_, true) => panic!("{agent} must not be asked for a structured answer"),
        _ => "```python\nblock = 1\nprint(block)\n```",
    }
}

/// Settings in which every agent has a model of its own name, with prices.
fn settings(url: &str) -> String {
    let named = |line: &dyn Fn(&str) -> String| AgentType::ALL.map(|agent| line(agent.name())).concat();
    let models = named(&|name| format!("  {name}: {name}\n"));
    let prices = named(&|name| format!("  {name}: {{input: 50, output: 250}}\n"));
    format!("agents: openai\nmodel: init\nopenai:\n  url: {url}\nagent_models:\n{models}prices:\n{prices}")
}

/// A folder with these settings.
fn sealed(endpoint: &Endpoint) -> Sealed {
    Sealed::with(&[("c.yaml", &settings(&endpoint.url()))])
}

/// The command line of a small run called `r`.
fn run_line(sealed: &Sealed) -> String {
    let python = interpreter(sealed, &format!("{SUBMIT}; {SCORE}"));
    format!("run data --config c.yaml --run-id r --set python={python} {SMALL}")
}

/// Whether any file below a folder holds the key.
pub fn holds_key(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        let holds = |path: &Path| {
            fs::read(path).unwrap_or_default().windows(KEY.1.len()).any(|part| part == KEY.1.as_bytes())
        };
        if path.is_dir() { holds_key(&path) } else { holds(&path) }
    })
}

#[test]
fn a_run_is_answered_by_an_endpoint_and_its_cost_follows_the_prices() {
    let endpoint = Endpoint::start(|_| false);
    let sealed = sealed(&endpoint);
    let said = sealed.run_with(&run_line(&sealed), &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    let first = said.stderr.lines().next().unwrap();
    assert_eq!(first, format!("agents: openai ({}; OPENAI_API_KEY is set)", endpoint.url()));
    let note = "note: there is no search_command: the language model names models from memory\n";
    assert!(said.stderr.contains(note), "{said:?}");
    let result = result(&sealed);
    let calls = u32::try_from(endpoint.asked().len()).unwrap();
    let cost = result["total_cost_usd"].as_f64().unwrap();
    // 100 tokens at 50 dollars and 20 at 250 a million.
    assert!((cost - 0.01 * f64::from(calls)).abs() < 1e-9, "{cost} for {calls}");
    assert_eq!(
        (&result["phase1"]["retrieval"], &result["config"]["agents"]),
        (&json!("knowledge"), &json!("openai"))
    );
    assert_eq!(
        (&result["config"]["openai"]["url"], &result["config"]["search"]),
        (&json!(endpoint.url()), &json!("off"))
    );
    assert!(sealed.read("runs/r/solutions/phase2.path-0.t0.k0.run.py").contains("block = 2"));
    for text in [&said.stderr, &sealed.run("show r").stdout, &sealed.read("runs/r/report.html")] {
        assert!(text.contains(&format!("${cost:.2}")), "{text}");
    }
    assert!(!holds_key(&sealed.path("")) && !format!("{said:?}").contains("very-secret"));
}

#[test]
fn the_retriever_searches_with_the_command() {
    let endpoint = Endpoint::start(|_| false);
    let sealed = sealed(&endpoint);
    let found = r#"[{"title": "Trees", "url": "https://a.org", "snippet": "work well"}]"#;
    let search =
        format!("search_command: [sh, -c, 'cat >query; cat found.json']\n{}", settings(&endpoint.url()));
    sealed.write("found.json", found.as_bytes());
    sealed.write("c.yaml", search.as_bytes());
    let said = sealed.run_with(&run_line(&sealed), &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(sealed.read("query"), "small tables");
    let phase1 = &result(&sealed)["phase1"];
    assert_eq!(
        (&phase1["retrieval"], &phase1["lookups"][0]["what"]),
        (&json!("web"), &json!("small tables"))
    );
    let asked = endpoint.asked();
    let retriever: Vec<&Value> = asked.iter().filter(|body| body["model"] == "retriever").collect();
    let prompt = retriever[1]["messages"][1]["content"].as_str().unwrap();
    assert!(prompt.contains("- Trees\n  https://a.org\n  work well\n"), "{prompt}");
    assert!(!said.stderr.contains("from memory"), "{said:?}");
}

#[test]
fn an_unknown_price_is_an_unknown_cost_unless_a_budget_must_hold() {
    let endpoint = Endpoint::start(|_| false);
    let sealed = sealed(&endpoint);
    let line = format!("{} --set prices={{}}", run_line(&sealed));
    let estimate = sealed.run_with(&format!("{line} --estimate"), &[KEY]);
    let unknown = "cost: unknown, because prices has no entry for ablation, coder, data, debugger,";
    assert!(estimate.code == 0 && estimate.stdout.contains(unknown), "{estimate:?}");
    assert!(endpoint.asked().is_empty(), "an estimate asks nobody");
    let said = sealed.run_with(&line, &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("cost: unknown for "), "{said:?}");
    assert_eq!(result(&sealed)["total_cost_usd"], Value::Null);
    let limited = line.replace("--run-id r", "--run-id limited");
    let said = sealed.run_with(&format!("{limited} --max-budget-usd 5"), &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("cost: ~$0.") && said.stderr.contains(" of it is estimated"), "{said:?}");
    assert_eq!(said.stderr.matches("the cost of a call is unknown").count(), 1, "{said:?}");
}

#[test]
fn a_refused_key_stops_the_run_until_there_is_another() {
    let is_refused = Arc::new(Mutex::new(true));
    let refused = Arc::clone(&is_refused);
    let endpoint = Endpoint::start(move |model| model == "merger" && *refused.lock().unwrap());
    let sealed = sealed(&endpoint);
    let said = sealed.run_with(&run_line(&sealed), &[KEY]);
    assert_eq!(said.code, 1, "{said:?}");
    let error = "error: the endpoint refuses the key: Incorrect API key provided: Bearer [key]\n\
                 hint: check OPENAI_API_KEY and openai.url";
    assert!(said.stderr.contains(error), "{said:?}");
    assert!(said.stderr.contains("resume"), "{said:?}");
    assert!(!holds_key(&sealed.path("")) && !format!("{said:?}").contains("very-secret"));
    let asked = endpoint.asked().len();
    *is_refused.lock().unwrap() = false;
    let said = sealed.run_with("resume r", &[KEY]);
    assert_eq!(said.code, 0, "{said:?}");
    let asked_again = endpoint.asked()[asked..].iter().any(|body| body["model"] == "retriever");
    assert!(!asked_again, "the retriever's answer was paid for");
}

#[test]
fn what_is_missing_is_bad_usage() {
    let check = |line: &str, environment: &[(&str, &str)], error: &str, hint: &str| {
        let sealed = Sealed::with(&[]);
        let said = sealed.run_with(&format!("run data --agents openai {line}"), environment);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.stderr.contains(&format!("error: {error}")) && said.stderr.contains(hint), "{said:?}");
        assert!(!sealed.path("runs").exists(), "{said:?}");
    };
    let local = ("MLE_STAR_OPENAI_URL", "http://127.0.0.1:1/v1");
    check(
        "--model m",
        &[],
        "https://api.openai.com/v1 needs a key, and OPENAI_API_KEY is not set",
        "set OPENAI_API_KEY",
    );
    check("", &[local], "agents: openai needs a model", "--model");
    check("--model m --set openai.url=localhost:8080", &[], "the endpoint's address must begin with", "/v1");
}

#[test]
fn doctor_looks_at_the_endpoint_that_is_chosen() {
    let endpoint = Endpoint::start(|_| false);
    let sealed = sealed(&endpoint);
    let doctor = |line: &str| -> Said {
        let said = sealed.run_with(&format!("doctor --config c.yaml {line}"), &[KEY]);
        assert!(!format!("{said:?}").contains("very-secret"), "{said:?}");
        assert_eq!(said.code, 0, "{said:?}");
        said
    };
    let text = doctor("").stdout;
    let url = endpoint.url();
    assert!(text.contains(&format!("agents:      openai ({url}; OPENAI_API_KEY is set)\n")), "{text}");
    assert!(text.contains(&format!("endpoint:    {url}: 2 models: coder, init\n")), "{text}");
    assert!(text.contains("             model merger is not in its list\n"), "{text}");
    assert!(!text.contains("model coder is not"), "{text}");
    let found: Value = serde_json::from_str(&doctor("--json").stdout).unwrap();
    assert_eq!(found["endpoint"]["models"], json!(["coder", "init"]));
    assert_eq!((&found["endpoint"]["reachable"], &found["agents"]), (&json!(true), &json!("openai")));
    let nobody = doctor("--set openai.url=http://127.0.0.1:1/v1").stdout;
    assert!(nobody.contains("endpoint:    http://127.0.0.1:1/v1: it cannot be reached: "), "{nobody}");
    assert!(!sealed.run("doctor").stdout.contains("endpoint:"), "nothing is asked unless it is chosen");
}
