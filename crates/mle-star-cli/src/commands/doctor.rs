//! `doctor`: what this machine offers.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use mle_star::config::Config;
use mle_star::stop::Trouble;
use mle_star_backends::script::environment::{
    Environment, EnvironmentChoice, made_environment, python_environment,
};
use mle_star_process::machine::{Machine, machine};
use mle_star_process::sandbox::{Layer, Layers, Network};
use serde::Serialize;

use crate::args::DoctorArgs;
use crate::claude_code::{self, Executable};
use crate::credentials::{Found, Login, found, gateway};
use crate::exit::{Exit, Failure};
use crate::runtime::wait_for;
use crate::settings::process_environment;
use crate::{agents, say};

/// Everything that was found.
#[derive(Debug, Serialize)]
struct Findings {
    /// `mle-star`'s own version.
    version: &'static str,
    /// Interpreters on PATH that are new enough.
    python: Option<Tool>,
    /// The program's own environment, when it was made already.
    environment: Option<Tool>,
    uv: Option<Tool>,
    claude: Option<Executable>,
    /// Why `claude` cannot be used, when it cannot.
    claude_trouble: Option<String>,
    /// What makes up the logins that are there, by name; never their values.
    credentials: Vec<String>,
    /// Every login, the one that wins first.
    logins: Vec<Found>,
    /// The host of the gateway that requests go to.
    gateway: Option<String>,
    machine: Machine,
    /// What keeps scripts from doing harm, with the network off.
    isolation: Vec<Layer>,
    /// Free space where runs are kept by default, in MiB.
    disk_free_mib: Option<u64>,
    /// Who would answer in a `run`.
    agents: &'static str,
    /// Why.
    agents_reason: String,
}

#[derive(Debug, Serialize)]
struct Tool {
    path: PathBuf,
    version: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    libraries: Vec<(String, String)>,
}

/// Says what this machine offers.
///
/// # Errors
/// The findings cannot be printed, or the toy task cannot be solved.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    if args.e2e {
        return super::toy::solve(args.python.as_deref());
    }
    if args.probe_agents {
        return super::probe::probe(args.json);
    }
    let findings = wait_for(look())??;
    if args.json {
        let text = serde_json::to_string_pretty(&findings).map_err(|error| {
            Failure::failed(Trouble::new(format!("cannot write JSON: {error}"), "please report this"))
        })?;
        say::data(&text);
    } else {
        lines(&findings).iter().for_each(|line| say::shown(line));
    }
    Ok(Exit::Done)
}

async fn look() -> Result<Findings, Trouble> {
    let environment = &process_environment;
    let (claude, trouble) = match claude_code::find(None, environment).await {
        Ok(claude) => (Some(claude.clone()), claude.trouble()),
        Err(trouble) => (None, Some(trouble)),
    };
    let claude_trouble = trouble.map(|trouble| format!("{}; {}", trouble.message, trouble.hint));
    let logins = found(environment);
    let choice = agents::choose(&Config::default(), environment).await?;
    Ok(Findings {
        version: env!("CARGO_PKG_VERSION"),
        python: python().await,
        environment: made_environment().await.map(with_libraries),
        uv: tool("uv"),
        claude,
        claude_trouble,
        credentials: logins
            .iter()
            .filter(|login| login.usable)
            .filter_map(|login| login.by.first().cloned())
            .collect(),
        logins,
        gateway: gateway(environment),
        machine: machine().await,
        isolation: Layers::probed().list(Network::Denied),
        disk_free_mib: disk_free_mib(Path::new(".")),
        agents: agents::name(choice.chosen.name()),
        agents_reason: choice.reason,
    })
}

async fn python() -> Option<Tool> {
    let quiet = |_: &str| {};
    let found = python_environment(EnvironmentChoice::Given(PathBuf::from("python3")), &quiet).await.ok()?;
    Some(Tool { path: found.python, version: found.version, libraries: Vec::new() })
}

fn with_libraries(environment: Environment) -> Tool {
    Tool { path: environment.python, version: environment.version, libraries: environment.libraries }
}

fn tool(name: &str) -> Option<Tool> {
    let path = on_path(name)?;
    let output = Command::new(&path).arg("--version").output().ok()?;
    let version =
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned();
    Some(Tool { path, version, libraries: Vec::new() })
}

fn on_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(OsStr::new(name))).find(|path| path.is_file())
}

/// What `df` says of the folder's file system.
fn disk_free_mib(folder: &Path) -> Option<u64> {
    let output = Command::new("df").arg("-Pm").arg(folder).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()
}

fn lines(findings: &Findings) -> Vec<String> {
    let shown = |tool: &Option<Tool>, missing: &str| match tool {
        Some(tool) => format!("{} ({})", tool.version, tool.path.display()),
        None => missing.to_owned(),
    };
    let machine = &findings.machine;
    let gpus = match machine.gpus.as_slice() {
        [] => "none".to_owned(),
        gpus => gpus
            .iter()
            .map(|gpu| format!("{} ({} GiB)", gpu.name, gpu.memory_mib / 1024))
            .collect::<Vec<_>>()
            .join(", "),
    };
    let mut lines = vec![
        format!("mle-star:    {}", findings.version),
        format!(
            "python:      {}",
            shown(&findings.python, "none; install Python 3.11 or newer with its venv module")
        ),
        format!("environment: {}", shown(&findings.environment, "not made yet; the first run makes it")),
        format!("uv:          {}", shown(&findings.uv, "none; pip fetches one for the Python environment")),
        format!("claude:      {}", claude_line(findings)),
    ];
    lines.extend(login_lines(findings));
    lines.extend([
        format!("agents:      {} (what `run` picks: {})", findings.agents, findings.agents_reason),
        format!("cores:       {}", machine.cores),
        format!("memory:      {} GiB", machine.memory_mib / 1024),
        format!("gpus:        {gpus}"),
    ]);
    lines.extend(isolation_lines(&findings.isolation));
    lines.push(format!(
        "disk:        {}",
        findings.disk_free_mib.map_or("unknown".to_owned(), |mib| format!("{} GiB free here", mib / 1024))
    ));
    lines
}

/// One line for each layer.
fn isolation_lines(layers: &[Layer]) -> impl Iterator<Item = String> {
    layers.iter().enumerate().map(|(index, layer)| {
        let head = if index == 0 { "isolation:" } else { "" };
        let says = if layer.enforced { "" } else { "not enforced: " };
        let what = match layer.detail.as_str() {
            "" => "yes",
            detail => detail,
        };
        format!("{head:12} {:16} {says}{what}", layer.name)
    })
}

fn claude_line(findings: &Findings) -> String {
    match (&findings.claude, &findings.claude_trouble) {
        (Some(claude), None) => format!("{} ({})", claude.version, claude.path.display()),
        (_, Some(trouble)) => trouble.clone(),
        (None, None) => "none".to_owned(),
    }
}

/// One line for each login of which anything is there.
fn login_lines(findings: &Findings) -> Vec<String> {
    let there = findings.logins.iter().filter(|login| !login.by.is_empty());
    let told = there.map(|login| {
        let what = match (login.used, login.usable) {
            (true, _) => "used",
            (false, true) => "not used: another one wins",
            (false, false) => "not switched on",
        };
        let takes_gateway = matches!(login.login, Login::ApiKey | Login::Token);
        let gateway = findings.gateway.as_ref().filter(|_| takes_gateway);
        let at = gateway.map_or_else(String::new, |host| format!(" at {host}"));
        format!("{}{at}: {} ({what})", login.login.title(), login.by.join(", "))
    });
    let told: Vec<String> = told.collect();
    match told.is_empty() {
        true => vec![
            "login:       none to a language model; set ANTHROPIC_API_KEY, or log in with `claude`"
                .to_owned(),
        ],
        false => told.iter().map(|line| format!("login:       {line}")).collect(),
    }
}
