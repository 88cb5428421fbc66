//! `doctor`: checks this machine, and the runners of a config file.

mod runners;
mod runs_dir;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use mle_star_backends::script::environment::{
    Environment, EnvironmentChoice, made_environment, python_environment,
};
use mle_star_backends::script::gpus::{TriedGpu, try_gpus};
use mle_star_domain::config::{AgentsChoice, Config};
use mle_star_domain::trouble::Trouble;
use mle_star_openai::{Endpoint, EndpointStatus};
use mle_star_process::machine::{Gpu, Machine, machine};
use mle_star_process::sandbox::{Isolation, Layer, Layers, Network};
use mle_star_report::figures::count;
use mle_star_report::sanitize::first_line;
use mle_star_run::VERSION;
use mle_star_run::provider::credentials::{FoundLogin, Login, gateway, logins};
use mle_star_run::provider::executable::{self, CLAUDE, CODEX, Executable};
use mle_star_run::provider::{self, Choice, Provider};
use mle_star_run::runtime::block_on;
use mle_star_run::settings::{Settings, layered, process_environment};
use serde::Serialize;

use crate::args::{DoctorArgs, RunArgs, SettingsArgs};
use crate::exit::{Exit, Failure};
use crate::output;
use runners::CheckedRunner;
use runs_dir::RunsDir;

/// The longest list of the models of an endpoint, in characters.
const MAX_LISTED: usize = 400;

/// The findings.
#[derive(Debug, Serialize)]
struct Findings {
    /// The version of `mle-star`.
    version: &'static str,
    /// The interpreter of the settings, or else the one on PATH, if it can be used.
    python: Option<Tool>,
    /// The program's own environment, if it exists.
    environment: Option<Tool>,
    uv: Option<Tool>,
    claude: Option<Executable>,
    /// Why `claude` cannot be used.
    claude_trouble: Option<String>,
    codex: Option<Executable>,
    /// Why `codex` cannot be used.
    codex_trouble: Option<String>,
    /// The name of the variable or the file with the login of `codex`, never a value.
    codex_login: Option<String>,
    /// Names of variables and files of usable logins, never values.
    credentials: Vec<String>,
    /// All logins, by precedence.
    logins: Vec<FoundLogin>,
    /// The host of the gateway that requests go to.
    gateway: Option<String>,
    machine: Machine,
    /// Its GPUs, and whether scripts can use them.
    gpus: Vec<TriedGpu>,
    /// The isolation layers, with the network off.
    isolation: Vec<Layer>,
    /// Free disk space of the current directory, in MiB.
    disk_free_mib: Option<u64>,
    runs_dir: RunsDir,
    /// Why the folder for temporary files cannot be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    temporary_trouble: Option<String>,
    /// The agents that `run` would choose.
    agents: &'static str,
    /// The reason.
    agents_reason: String,
    /// The runners of the settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    runners: Vec<CheckedRunner>,
    /// The endpoint of `agents: openai`.
    endpoint: Option<CheckedEndpoint>,
}

/// The endpoint that the settings name.
#[derive(Debug, Serialize)]
struct CheckedEndpoint {
    address: String,
    has_key: bool,
    #[serde(flatten)]
    status: EndpointStatus,
    /// Models of the settings that the endpoint does not list.
    unlisted: Vec<String>,
}

impl CheckedEndpoint {
    async fn check(endpoint: &Endpoint, settings: &Settings) -> Result<Self, Trouble> {
        let status = mle_star_openai::check_endpoint(endpoint).await?;
        let Config { model, agent_models, .. } = &settings.config;
        let main = settings.given.contains("model").then_some(model);
        let named: BTreeSet<&String> = main.into_iter().chain(agent_models.values()).collect();
        let is_listed = |name: &String| status.models.as_ref().is_none_or(|models| models.contains(name));
        let unlisted = named.into_iter().filter(|name| !is_listed(name)).cloned().collect();
        Ok(Self { address: endpoint.address().to_owned(), has_key: endpoint.has_key(), status, unlisted })
    }

    fn lines(&self) -> Vec<String> {
        let what = match (&self.status.trouble, &self.status.models) {
            (Some(trouble), _) => trouble.clone(),
            (None, Some(models)) if models.is_empty() => "it offers no models".to_owned(),
            (None, models) => {
                let models = models.as_deref().unwrap_or_default();
                let shown = first_line(&models.join(", "), MAX_LISTED);
                format!("{}: {shown}", count(models.len() as u64, "model"))
            }
        };
        let unlisted = self.unlisted.iter().map(|model| format!("model {model} is not in its list"));
        std::iter::once(format!("{}: {what}", self.address)).chain(unlisted).collect()
    }
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
        return super::toy::solve(args);
    }
    let findings = findings(args)?;
    if args.json {
        output::json(&findings)?;
    } else {
        lines(&findings).iter().for_each(|line| output::shown(line));
    }
    Ok(Exit::Done)
}

fn findings(args: &DoctorArgs) -> Result<Findings, Failure> {
    let settings = settings(args)?;
    block_on(async {
        let findings = check_machine(&settings).await?;
        // Last, since Ctrl-C has no effect once they were checked.
        Ok(Findings { runners: runners::check(&settings).await?, ..findings })
    })?
}

/// The settings to check.
fn settings(args: &DoctorArgs) -> Result<Settings, Trouble> {
    let (set, runner) = (args.set.clone(), args.runner.clone());
    let settings = SettingsArgs { set, runner, ..SettingsArgs::default() };
    let options = RunArgs { settings, ..RunArgs::default() };
    layered(&process_environment, args.config.as_deref(), &options.options()?.settings)
}

async fn check_machine(settings: &Settings) -> Result<Findings, Failure> {
    let (environment, config) = (&process_environment, &settings.config);
    let in_words = |trouble: Trouble| format!("{}; {}", trouble.message, trouble.hint);
    let (claude, trouble) =
        match executable::find(&CLAUDE, config.claude_path.as_deref(), environment, true).await {
            Ok(claude) => (Some(claude.clone()), claude.trouble(&CLAUDE)),
            Err(trouble) => (None, Some(trouble)),
        };
    let codex = executable::find(&CODEX, config.codex_path.as_deref(), environment, true).await;
    let logins = logins(environment);
    // Agents that the settings ask for may be missing, which is a finding.
    let (agents, agents_reason, endpoint) = match provider::choose(config, environment).await {
        Ok(Choice { chosen: Provider::OpenAi(endpoint), reason }) => {
            (AgentsChoice::OpenAi, reason, Some(CheckedEndpoint::check(&endpoint, settings).await?))
        }
        Ok(choice) => (choice.chosen.name(), choice.reason, None),
        Err(trouble) => {
            (config.agents, format!("cannot be used: {}; {}", trouble.message, trouble.hint), None)
        }
    };
    let (python, made) = (python(config.python.as_deref()).await, made_environment().await);
    let machine = machine().await;
    let of_scripts = python.clone().filter(|_| config.python.is_some()).or(made.clone()).or(python.clone());
    let gpus = gpus_of_scripts(of_scripts.as_ref(), &machine).await;
    Ok(Findings {
        version: VERSION,
        python: python.map(Tool::from),
        environment: made.map(Tool::from),
        uv: tool("uv"),
        claude,
        claude_trouble: trouble.map(in_words),
        codex_trouble: codex.as_ref().err().cloned().map(in_words),
        codex: codex.ok(),
        codex_login: provider::codex::login(environment).map(|login| login.by),
        credentials: logins
            .iter()
            .filter(|login| login.usable)
            .filter_map(|login| login.by.first().cloned())
            .collect(),
        logins,
        gateway: gateway(environment),
        machine,
        gpus,
        isolation: Layers::probed().list(Network::Denied),
        runs_dir: RunsDir::check(settings.invocation.runs_dir.as_deref()),
        temporary_trouble: super::temporary::check().err().map(in_words),
        disk_free_mib: mle_star_process::disk::free_mib(Path::new(".")),
        agents: provider::name(agents),
        agents_reason,
        endpoint,
        runners: Vec::new(),
    })
}

/// The interpreter of the settings, or the one on PATH.
async fn python(given: Option<&Path>) -> Option<Environment> {
    let quiet = |_: &str| {};
    let choice = EnvironmentChoice::Given(given.unwrap_or(Path::new("python3")).to_owned());
    python_environment(choice, &quiet).await.ok()
}

/// Tries the GPUs in a script of this environment.
async fn gpus_of_scripts(environment: Option<&Environment>, machine: &Machine) -> Vec<TriedGpu> {
    let Some(environment) = environment else {
        let untried = |gpu: &Gpu| TriedGpu {
            name: gpu.name.clone(),
            memory_mib: gpu.memory_mib,
            works_inside: false,
            says: "there is no Python to try it".to_owned(),
        };
        return machine.gpus.iter().map(untried).collect();
    };
    try_gpus(environment, machine, &Isolation::new(Network::Denied)).await
}

impl From<Environment> for Tool {
    fn from(Environment { python, version, libraries, .. }: Environment) -> Self {
        Self { path: python, version, libraries }
    }
}

fn tool(name: &str) -> Option<Tool> {
    let path = which::which(name).ok()?;
    let output = Command::new(&path).arg("--version").output().ok()?;
    let version =
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().trim().to_owned();
    Some(Tool { path, version, libraries: Vec::new() })
}

/// The findings in lines.
fn lines(findings: &Findings) -> Vec<String> {
    let rows = rows(findings).into_iter().map(|(head, text)| format!("{head:12} {text}"));
    rows.chain(findings.runners.iter().flat_map(CheckedRunner::lines)).collect()
}

/// What is said of each part of the machine.
fn rows(findings: &Findings) -> Vec<(&'static str, String)> {
    let shown = |tool: &Option<Tool>, missing: &str| match tool {
        Some(tool) => format!("{} ({})", tool.version, tool.path.display()),
        None => missing.to_owned(),
    };
    let free = findings.disk_free_mib.map(|mib| format!("{} GiB free here", mib / 1024));
    let mut rows = vec![
        ("mle-star:", findings.version.to_owned()),
        ("python:", shown(&findings.python, "none; install Python 3.11 or newer with its venv module")),
        ("environment:", shown(&findings.environment, "not created yet; the first run creates it")),
        ("uv:", shown(&findings.uv, "none; pip installs it for the Python environment")),
        ("claude:", executable_line(findings.claude.as_ref(), findings.claude_trouble.as_deref())),
    ];
    rows.extend(headed("login:", login_lines(findings)));
    rows.push(("codex:", codex_line(findings)));
    rows.push(("agents:", format!("{} ({})", findings.agents, findings.agents_reason)));
    rows.extend(headed("endpoint:", findings.endpoint.iter().flat_map(CheckedEndpoint::lines)));
    rows.push(("cores:", findings.machine.cores.to_string()));
    rows.push(("memory:", format!("{} GiB", findings.machine.memory_mib / 1024)));
    rows.extend(headed("gpus:", gpu_lines(&findings.gpus)));
    rows.extend(headed("isolation:", findings.isolation.iter().map(isolation_line)));
    rows.push(("disk:", free.unwrap_or_else(|| "unknown".to_owned())));
    rows.push(("runs:", findings.runs_dir.line()));
    rows.extend(headed("temporary:", findings.temporary_trouble.clone()));
    rows
}

/// Rows of one part; only the first has its name.
fn headed(
    head: &'static str,
    lines: impl IntoIterator<Item = String>,
) -> impl Iterator<Item = (&'static str, String)> {
    std::iter::once(head).chain(std::iter::repeat("")).zip(lines)
}

/// The GPUs with their memory.
fn gpus(machine: &Machine) -> String {
    let gpu = |gpu: &Gpu| format!("{} ({} GiB)", gpu.name, gpu.memory_mib / 1024);
    match machine.gpus.as_slice() {
        [] => "none".to_owned(),
        gpus => gpus.iter().map(gpu).collect::<Vec<_>>().join(", "),
    }
}

fn gpu_lines(gpus: &[TriedGpu]) -> Vec<String> {
    match gpus {
        [] => vec!["none".to_owned()],
        gpus => gpus.iter().map(TriedGpu::line).collect(),
    }
}

fn isolation_line(layer: &Layer) -> String {
    let says = if layer.enforced { "" } else { "not enforced: " };
    let what = if layer.detail.is_empty() { "yes" } else { &layer.detail };
    format!("{:16} {says}{what}", layer.name)
}

fn codex_line(findings: &Findings) -> String {
    let line = executable_line(findings.codex.as_ref(), findings.codex_trouble.as_deref());
    match (&findings.codex, &findings.codex_login) {
        (None, _) => line,
        (_, Some(by)) => format!("{line}, login: {by}"),
        (_, None) => format!("{line}, no login: set CODEX_API_KEY, or log in with `codex login`"),
    }
}

fn executable_line(found: Option<&Executable>, trouble: Option<&str>) -> String {
    let shown = |found: &Executable| format!("{} ({})", found.version, found.path.display());
    trouble.map(str::to_owned).or(found.map(shown)).unwrap_or_else(|| "none".to_owned())
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
        true => vec!["none found; set ANTHROPIC_API_KEY, or log in with `claude`".to_owned()],
        false => shown,
    }
}
