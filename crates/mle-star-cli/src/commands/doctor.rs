//! `doctor`: checks this machine.

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
use crate::exit::{Exit, Failure};
use crate::provider::credentials::{Found, Login, found, gateway};
use crate::provider::executable::{self, Executable};
use crate::runtime::wait_for;
use crate::settings::process_environment;
use crate::{output, provider};

/// The findings.
#[derive(Debug, Serialize)]
struct Findings {
    /// The version of `mle-star`.
    version: &'static str,
    /// The interpreter on PATH, if it is new enough.
    python: Option<Tool>,
    /// The program's own environment, if it exists.
    environment: Option<Tool>,
    uv: Option<Tool>,
    claude: Option<Executable>,
    /// Why `claude` cannot be used.
    claude_trouble: Option<String>,
    /// Names of variables and files of usable logins, never values.
    credentials: Vec<String>,
    /// All logins, by precedence.
    logins: Vec<Found>,
    /// The host of the gateway that requests go to.
    gateway: Option<String>,
    machine: Machine,
    /// The isolation layers, with the network off.
    isolation: Vec<Layer>,
    /// Free disk space of the current directory, in MiB.
    disk_free_mib: Option<u64>,
    /// The agents that `run` would choose.
    agents: &'static str,
    /// The reason.
    agents_reason: String,
}

#[derive(Debug, Serialize)]
struct Tool {
    path: PathBuf,
    version: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    libraries: Vec<(String, String)>,
}

/// Checks this machine.
///
/// # Errors
/// The findings cannot be printed, or the built-in task cannot be solved.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    if args.e2e {
        return super::toy::solve(args.python.as_deref());
    }
    if args.probe_agents {
        return super::probe::probe(args.json);
    }
    let findings = wait_for(look())??;
    if args.json {
        super::print_json(&findings)?;
    } else {
        lines(&findings).iter().for_each(|line| output::shown(line));
    }
    Ok(Exit::Done)
}

async fn look() -> Result<Findings, Trouble> {
    let environment = &process_environment;
    let (claude, trouble) = match executable::find(None, environment).await {
        Ok(claude) => (Some(claude.clone()), claude.trouble()),
        Err(trouble) => (None, Some(trouble)),
    };
    let claude_trouble = trouble.map(|trouble| format!("{}; {}", trouble.message, trouble.hint));
    let logins = found(environment);
    let choice = provider::choose(&Config::default(), environment).await?;
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
        disk_free_mib: mle_star_process::disk::free_mib(Path::new(".")),
        agents: provider::name(choice.chosen.name()),
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
    let path = which::which(name).ok()?;
    let output = Command::new(&path).arg("--version").output().ok()?;
    let version =
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned();
    Some(Tool { path, version, libraries: Vec::new() })
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
        format!("environment: {}", shown(&findings.environment, "not created yet; the first run creates it")),
        format!("uv:          {}", shown(&findings.uv, "none; pip installs it for the Python environment")),
        format!("claude:      {}", claude_line(findings)),
    ];
    lines.extend(login_lines(findings));
    lines.extend([
        format!("agents:      {} (default of `run`: {})", findings.agents, findings.agents_reason),
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

/// One line per layer.
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

/// One line per login with any variable or file.
fn login_lines(findings: &Findings) -> Vec<String> {
    let there = findings.logins.iter().filter(|login| !login.by.is_empty());
    let shown = there.map(|login| {
        let what = match (login.used, login.usable) {
            (true, _) => "used",
            (false, true) => "not used: another login takes precedence",
            (false, false) => "not switched on",
        };
        let takes_gateway = matches!(login.login, Login::ApiKey | Login::Token);
        let gateway = findings.gateway.as_ref().filter(|_| takes_gateway);
        let at = gateway.map_or_else(String::new, |host| format!(" at {host}"));
        format!("{}{at}: {} ({what})", login.login.title(), login.by.join(", "))
    });
    let shown: Vec<String> = shown.collect();
    match shown.is_empty() {
        true => vec!["login:       none found; set ANTHROPIC_API_KEY, or log in with `claude`".to_owned()],
        false => shown.iter().map(|line| format!("login:       {line}")).collect(),
    }
}
