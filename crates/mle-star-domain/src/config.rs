//! The configuration of a run: keys, defaults and ranges.
//!
//! [`Config`] is the content of `config.json`, with a value for every key. The CLI layers environment, config file
//! and options over the defaults.

mod endpoint;
mod holdout;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::role::AgentType;
use crate::search;

pub use endpoint::{Format, OpenAi, Price};
pub use holdout::HoldoutShare;

/// Which agents answer prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentsChoice {
    /// `claude` if the command and a login are found, else `offline`.
    Auto,
    /// A language model, through the `claude` command line.
    Claude,
    /// Rules built into the program: no key, no network, no cost.
    Offline,
    /// You, or any program, through files.
    Files,
    /// A language model behind an OpenAI-compatible API.
    OpenAi,
    /// A language model, through the `codex` command line.
    Codex,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// When a solution replaces the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// Its score is not worse, as in the paper.
    Paper,
    /// It is better by more than one standard error of the paired difference.
    OneSigma,
}

/// How the final solution is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FinalChoice {
    /// The validation score, unless one half of the held-out rows contradicts it. Then this half chooses among all
    /// solutions, and the other half gives the reported score.
    Auto,
    /// The validation score, as in the paper.
    Validation,
    /// The score on one half of the held-out rows, among the four best by validation. The other half gives the
    /// reported score.
    Holdout,
}

/// What the agents are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// Everything that helps: the data, the effects of earlier attempts, printed output, the time that is left.
    Full,
    /// What the paper's prompts say.
    Paper,
}

/// When a script is checked for leakage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LeakageCheck {
    /// Every script, before it runs, as in the paper.
    Each,
    /// Scripts whose score would be accepted, and those that a combination uses. A corrected script runs again.
    Accepted,
}

/// What becomes of a script in which the program finds a leak before it is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LeakageGate {
    /// An agent corrects it. What still leaks gets no score.
    Block,
    /// The finding is shown, and the script runs.
    Warn,
    /// Scripts are not looked at.
    Off,
}

/// Which solutions run on changed data and with watched fits, to see whether their scores can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Probes {
    /// The one that would be submitted is checked; if it is suspect, the next best one.
    Final,
    /// No solution is checked.
    Off,
}

/// A set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The defaults in this table.
    Default,
    /// The paper's algorithms and prompts, with nothing added.
    Paper,
}

/// The phases' shares of the time in percent, which add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PhaseTimeBudget {
    /// Share of Phase 1.
    pub phase1_pct: f64,
    /// Share of Phase 2.
    pub phase2_pct: f64,
    /// Share of Phase 3.
    pub phase3_pct: f64,
    /// Share of finalization.
    pub finalization_pct: f64,
}

/// All settings of a run. Counts carry the paper's letters: M, T, K, L, R. Deserialization checks every range.
///
/// `docs/configuration.md` shows the doc comments of the keys and their values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
// `remote` makes the derive generate functions instead of the two traits, which are implemented below with range
// checks.
#[serde(default, deny_unknown_fields, remote = "Self")]
pub struct Config {
    /// M: models to try.
    pub num_retrieved_models: u32,
    /// T: ablation studies and refinements on each path.
    pub outer_loop_steps: u32,
    /// K: attempts at each code block.
    pub inner_loop_steps: u32,
    /// L: refinement paths that run side by side.
    pub num_parallel_solutions: u32,
    /// R: ensemble rounds.
    pub ensemble_rounds: u32,
    /// Wall-clock limit of the run, in seconds, without interruptions. The search stops when a tenth is left, or earlier
    /// if the last run on all rows needs more, at most half.
    pub time_limit_seconds: u64,
    /// The most training rows that scripts use before finalization.
    pub subsample_limit: u32,
    /// The most repairs of one failing script.
    pub max_debug_attempts: u32,
    /// Limit on the cost of agents, in US dollars, exceeded by one call at most. The offline agents cost nothing.
    pub max_budget_usd: Option<f64>,
    /// Permission mode of `claude` for agents with tools. With the default, the program itself decides about every use of
    /// a tool.
    pub permission_mode: String,
    /// Model of the agents: an alias or a full name. The default is for `claude`; `openai` and `codex` need a name.
    pub model: String,
    /// Level of `logs/mle-star.log`: `ERROR`, `WARN`, `INFO` or `DEBUG`. `DEBUG` also logs prompts and replies, and
    /// prints log lines on the console.
    pub log_level: String,
    /// A second log file, which is appended to.
    pub log_file: Option<PathBuf>,
    /// Shares of the time in percent. They add up to 100.
    pub phase_time_budget: PhaseTimeBudget,
    /// Who answers the prompts.
    pub agents: AgentsChoice,
    /// Time limit of one script, in seconds. Without it, a script may use the time that is left in its phase.
    pub script_timeout_seconds: Option<u64>,
    /// Time limit of one agent call, in seconds.
    pub agent_timeout_seconds: u64,
    /// How long one call waits for an overloaded service, in seconds.
    pub overload_patience_seconds: u64,
    /// The most agent calls at once.
    pub max_concurrent_agents: u32,
    /// The most scripts at once on this machine (option `--jobs`); each gets an equal share of cores and GPUs. Without it,
    /// one per GPU, at least one. 0: all scripts run on runners.
    pub max_concurrent_scripts: Option<u32>,
    /// The Python interpreter, used as it is: nothing is installed into it. Without it, the program makes an
    /// environment of its own.
    pub python: Option<PathBuf>,
    /// Network access of scripts.
    pub network: Switch,
    /// Memory limit of one script with its child processes, in MiB. Without it, 90 % of the machine's memory.
    pub memory_limit_mb: Option<u64>,
    /// Models of single agents, such as `agent_models.coder`.
    pub agent_models: BTreeMap<AgentType, String>,
    /// The `claude` executable. Without it, `claude` on PATH.
    pub claude_path: Option<PathBuf>,
    /// The `codex` executable. Without it, `codex` on PATH.
    pub codex_path: Option<PathBuf>,
    /// The folder for the calls of `agents: files`. Without it, `agents` in the run folder.
    pub agents_dir: Option<PathBuf>,
    /// The endpoint of `agents: openai`.
    pub openai: OpenAi,
    /// Prices by model, for agents that do not report their cost.
    pub prices: BTreeMap<String, Price>,
    /// Whether the retriever searches the web.
    pub search: Switch,
    /// The program that searches the web for `agents: openai`, with its arguments.
    pub search_command: Vec<String>,
    /// Domains, with or without a path, that the retriever must not read. Without them, the discussion and code pages
    /// of the competition.
    pub search_blocked_domains: Vec<String>,
    /// Shell commands that agents must not run, as parts of a command line.
    pub blocked_commands: Vec<String>,
    /// A file with models to try, instead of asking the retriever.
    pub retrieved_models: Option<PathBuf>,
    /// Whether scripts start in a process that has already imported their libraries.
    pub warm_start: Switch,
    /// A folder with templates that replace the built-in ones.
    pub prompts: Option<PathBuf>,
    /// A set of defaults. Keys that you set win over it.
    pub preset: Preset,
    /// The seed of the held-out rows, of the folds and the sample that agents are told to use, and of the scripts of the
    /// offline agents. Answers of language models do not depend on it.
    pub seed: u32,
    /// Labelled rows that no script sees before the final choice: `auto` (15 % if at least 2,000 rows are labelled),
    /// `off`, or a share from 0.05 to 0.4.
    pub holdout: HoldoutShare,
    /// The most rows that are held out.
    pub holdout_rows: u32,
    /// When a solution replaces the best one.
    pub acceptance: Acceptance,
    /// What chooses the final solution.
    pub final_choice: FinalChoice,
    /// What the agents are told.
    pub context: Context,
    /// Which scripts an agent checks for leakage.
    pub leakage_check: LeakageCheck,
    /// What becomes of a script in which the program finds a leak before it is scored.
    pub leakage_gate: LeakageGate,
    /// Whether the final solution is checked before it is submitted: it runs on changed data and with watched fits, to see
    /// whether its score can be believed.
    pub probes: Probes,
    /// Whether the predictions of all solutions are combined by weights, as one more ensemble. Agents are asked only to
    /// check its members for leaks and for subsampling.
    pub ensemble_selection: Switch,
}

/// The permission modes of `claude`.
const PERMISSION_MODES: [&str; 7] =
    ["bypassPermissions", "default", "manual", "acceptEdits", "auto", "dontAsk", "plan"];

/// The seed of a run without another one.
pub const SEED: u32 = 42;
/// Libraries take seeds of 32 bits, and scripts add a little to theirs.
const LARGEST_SEED: u64 = 1_000_000_000;

/// In seconds.
const TEN_YEARS: u64 = 315_360_000;

/// A value outside its range.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} must be {constraint}")]
pub struct OutOfRange {
    /// The key.
    pub field: &'static str,
    /// The valid range.
    pub constraint: &'static str,
}

impl Default for PhaseTimeBudget {
    fn default() -> Self {
        Self { phase1_pct: 10.0, phase2_pct: 65.0, phase3_pct: 15.0, finalization_pct: 10.0 }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            num_retrieved_models: 4,
            outer_loop_steps: 4,
            inner_loop_steps: 4,
            num_parallel_solutions: 2,
            ensemble_rounds: 5,
            time_limit_seconds: 86_400,
            subsample_limit: 30_000,
            max_debug_attempts: 3,
            max_budget_usd: None,
            permission_mode: "bypassPermissions".to_owned(),
            model: "sonnet".to_owned(),
            log_level: "INFO".to_owned(),
            log_file: None,
            phase_time_budget: PhaseTimeBudget::default(),
            agents: AgentsChoice::Auto,
            script_timeout_seconds: None,
            agent_timeout_seconds: 900,
            overload_patience_seconds: 3600,
            max_concurrent_agents: 8,
            max_concurrent_scripts: None,
            python: None,
            network: Switch::Off,
            memory_limit_mb: None,
            agent_models: BTreeMap::new(),
            claude_path: None,
            codex_path: None,
            agents_dir: None,
            openai: OpenAi::default(),
            prices: BTreeMap::new(),
            search: Switch::On,
            search_command: Vec::new(),
            search_blocked_domains: Vec::new(),
            blocked_commands: ["rm -rf /", "mkfs", "dd if=", ":(){ :|:& };:"].map(str::to_owned).into(),
            retrieved_models: None,
            warm_start: Switch::On,
            prompts: None,
            preset: Preset::Default,
            seed: SEED,
            holdout: HoldoutShare::Auto,
            holdout_rows: 20_000,
            acceptance: Acceptance::Paper,
            final_choice: FinalChoice::Auto,
            context: Context::Full,
            leakage_check: LeakageCheck::Accepted,
            leakage_gate: LeakageGate::Block,
            probes: Probes::Final,
            ensemble_selection: Switch::On,
        }
    }
}

impl Serialize for Config {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = <Map<String, Value> as Deserialize>::deserialize(deserializer)?;
        let config = Self::from_layer(keys).map_err(D::Error::custom)?;
        config.validate().map_err(D::Error::custom)?;
        Ok(config)
    }
}

impl Config {
    /// Reads some keys and uses the defaults for the others. Ranges are not checked, because they may depend on a
    /// later layer.
    ///
    /// # Errors
    /// An unknown key, or a value of the wrong type.
    pub fn from_layer(keys: Map<String, Value>) -> serde_json::Result<Self> {
        Self::deserialize(Value::Object(keys))
    }

    /// Checks every range.
    ///
    /// # Errors
    /// The first key whose value is outside its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        let at_least_one = [
            ("num_retrieved_models", u64::from(self.num_retrieved_models)),
            ("outer_loop_steps", u64::from(self.outer_loop_steps)),
            ("inner_loop_steps", u64::from(self.inner_loop_steps)),
            ("num_parallel_solutions", u64::from(self.num_parallel_solutions)),
            ("ensemble_rounds", u64::from(self.ensemble_rounds)),
            ("time_limit_seconds", self.time_limit_seconds),
            ("subsample_limit", u64::from(self.subsample_limit)),
            ("max_debug_attempts", u64::from(self.max_debug_attempts)),
            ("script_timeout_seconds", self.script_timeout_seconds.unwrap_or(1)),
            ("agent_timeout_seconds", self.agent_timeout_seconds),
            ("max_concurrent_agents", u64::from(self.max_concurrent_agents)),
            ("memory_limit_mb", self.memory_limit_mb.unwrap_or(1)),
            ("holdout_rows", u64::from(self.holdout_rows)),
        ];
        if let Some((field, _)) = at_least_one.into_iter().find(|(_, value)| *value < 1) {
            return Err(OutOfRange { field, constraint: "at least 1" });
        }
        let at_most = [
            ("time_limit_seconds", self.time_limit_seconds, TEN_YEARS),
            ("script_timeout_seconds", self.script_timeout_seconds.unwrap_or(1), TEN_YEARS),
            ("agent_timeout_seconds", self.agent_timeout_seconds, TEN_YEARS),
            ("overload_patience_seconds", self.overload_patience_seconds, TEN_YEARS),
            ("max_concurrent_scripts", u64::from(self.max_concurrent_scripts.unwrap_or(1)), 1024),
            ("max_concurrent_agents", u64::from(self.max_concurrent_agents), 1024),
            ("num_parallel_solutions", u64::from(self.num_parallel_solutions), 1024),
            ("seed", u64::from(self.seed), LARGEST_SEED),
        ];
        if let Some((field, _, most)) = at_most.into_iter().find(|(_, value, most)| value > most) {
            let constraint = match most {
                TEN_YEARS => "at most ten years",
                LARGEST_SEED => "at most 1000000000",
                _ => "at most 1024",
            };
            return Err(OutOfRange { field, constraint });
        }
        if self.max_budget_usd.is_some_and(|usd| !usd.is_finite() || usd <= 0.0) {
            return Err(OutOfRange {
                field: "max_budget_usd",
                constraint: "a positive number of US dollars",
            });
        }
        if !PERMISSION_MODES.contains(&self.permission_mode.as_str()) {
            let constraint = "bypassPermissions, default, manual, acceptEdits, auto, dontAsk or plan";
            return Err(OutOfRange { field: "permission_mode", constraint });
        }
        if !["ERROR", "WARN", "INFO", "DEBUG"].contains(&self.log_level.as_str()) {
            return Err(OutOfRange { field: "log_level", constraint: "ERROR, WARN, INFO or DEBUG" });
        }
        if !self.search_blocked_domains.iter().all(|rule| search::plain_rule(rule).is_some()) {
            return Err(OutOfRange {
                field: "search_blocked_domains",
                constraint: "domains, with or without a path",
            });
        }
        if matches!(self.holdout, HoldoutShare::Share(share) if !(0.05..=0.4).contains(&share)) {
            return Err(OutOfRange { field: "holdout", constraint: holdout::VALUES });
        }
        endpoint::validate(self)?;
        self.phase_time_budget.validate()
    }

    /// The keys that a preset sets, with their values. Keys that the user gives win over them.
    pub fn of_preset(preset: Preset) -> Map<String, Value> {
        let pairs: &[(&str, &str)] = match preset {
            Preset::Default => &[],
            Preset::Paper => &[
                ("holdout", "off"),
                ("acceptance", "paper"),
                ("final_choice", "validation"),
                ("context", "paper"),
                ("leakage_check", "each"),
                ("leakage_gate", "off"),
                ("probes", "off"),
                ("ensemble_selection", "off"),
            ],
        };
        pairs.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect()
    }
}

impl PhaseTimeBudget {
    fn validate(self) -> Result<(), OutOfRange> {
        let shares = [self.phase1_pct, self.phase2_pct, self.phase3_pct, self.finalization_pct];
        let in_range = shares.iter().all(|share| share.is_finite() && *share >= 0.0);
        let sum: f64 = shares.iter().sum();
        if in_range && (sum - 100.0).abs() < 1e-6 && self.finalization_pct > 0.0 {
            return Ok(());
        }
        Err(OutOfRange {
            field: "phase_time_budget",
            constraint: "four shares of at least 0 that add up to 100, with finalization above 0",
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_the_papers_and_survive_json() {
        let config = Config::default();
        assert_eq!(config.validate(), Ok(()));
        let expected = r#"{
            "num_retrieved_models": 4,
            "outer_loop_steps": 4,
            "inner_loop_steps": 4,
            "num_parallel_solutions": 2,
            "ensemble_rounds": 5,
            "time_limit_seconds": 86400,
            "subsample_limit": 30000,
            "max_debug_attempts": 3,
            "max_budget_usd": null,
            "permission_mode": "bypassPermissions",
            "model": "sonnet",
            "log_level": "INFO",
            "log_file": null,
            "phase_time_budget": {
                "phase1_pct": 10.0, "phase2_pct": 65.0, "phase3_pct": 15.0, "finalization_pct": 10.0
            },
            "agents": "auto",
            "script_timeout_seconds": null,
            "agent_timeout_seconds": 900,
            "overload_patience_seconds": 3600,
            "max_concurrent_agents": 8,
            "max_concurrent_scripts": null,
            "python": null,
            "network": "off",
            "memory_limit_mb": null,
            "agent_models": {},
            "claude_path": null,
            "codex_path": null,
            "agents_dir": null,
            "search": "on",
            "search_blocked_domains": [],
            "blocked_commands": ["rm -rf /", "mkfs", "dd if=", ":(){ :|:& };:"],
            "retrieved_models": null,
            "warm_start": "on",
            "prompts": null,
            "preset": "default",
            "seed": 42,
            "holdout": "auto",
            "holdout_rows": 20000,
            "acceptance": "paper",
            "final_choice": "auto",
            "context": "full",
            "leakage_check": "accepted",
            "ensemble_selection": "on",
            "leakage_gate": "block",
            "probes": "final",
            "prices": {},
            "search_command": [],
            "openai": {
                "url": null, "key_variable": "OPENAI_API_KEY", "format": "chat", "max_tokens": null,
                "stall_seconds": 300
            }
        }"#;
        let expected: serde_json::Value = serde_json::from_str(expected).unwrap();
        assert_eq!(serde_json::to_value(&config).unwrap(), expected);
        assert_eq!(serde_json::from_value::<Config>(expected).unwrap(), config);
        assert_eq!(serde_json::from_str::<Config>("{}").unwrap(), config);
    }

    #[test]
    fn every_count_is_at_least_one() {
        for field in [
            "num_retrieved_models",
            "outer_loop_steps",
            "inner_loop_steps",
            "num_parallel_solutions",
            "ensemble_rounds",
            "time_limit_seconds",
            "subsample_limit",
            "max_debug_attempts",
            "script_timeout_seconds",
            "agent_timeout_seconds",
            "max_concurrent_agents",
            "memory_limit_mb",
            "holdout_rows",
        ] {
            let with = |value: u32| serde_json::from_value::<Config>(json!({field: value}));
            let error = with(0).unwrap_err().to_string();
            assert!(error.contains(&format!("{field} must be at least 1")), "{error}");
            assert!(with(1).is_ok(), "{field}");
        }
    }

    #[test]
    fn values_out_of_range_name_their_key() {
        let check = |change: fn(&mut Config), field: &str| {
            let mut config = Config::default();
            change(&mut config);
            assert_eq!(config.validate().unwrap_err().field, field);
            let read = serde_json::from_str::<Config>(&serde_json::to_string(&config).unwrap());
            // JSON has no NaN; it is written as null.
            let is_nan = config.max_budget_usd.is_some_and(f64::is_nan);
            assert!(is_nan || read.unwrap_err().to_string().contains(field), "{field}");
        };
        check(|c| c.subsample_limit = 0, "subsample_limit");
        check(|c| c.max_budget_usd = Some(f64::NAN), "max_budget_usd");
        check(|c| c.max_budget_usd = Some(0.0), "max_budget_usd");
        check(|c| c.log_level = "LOUD".to_owned(), "log_level");
        check(|c| c.permission_mode = "ask".to_owned(), "permission_mode");
        check(|c| c.phase_time_budget.phase1_pct = 20.0, "phase_time_budget");
        check(|c| c.time_limit_seconds = u64::MAX, "time_limit_seconds");
        check(|c| c.max_concurrent_scripts = Some(u32::MAX), "max_concurrent_scripts");
        check(|c| c.overload_patience_seconds = u64::MAX, "overload_patience_seconds");
        check(|c| c.max_concurrent_agents = 1025, "max_concurrent_agents");
        check(|c| c.num_parallel_solutions = 1025, "num_parallel_solutions");
        check(|c| c.seed = 1_000_000_001, "seed");
        check(|c| c.holdout = HoldoutShare::Share(0.5), "holdout");
        check(|c| c.holdout = HoldoutShare::Share(f64::NAN), "holdout");
        check(
            |c| c.search_blocked_domains = vec!["a.org".to_owned(), "/x".to_owned()],
            "search_blocked_domains",
        );
    }

    #[test]
    fn unknown_keys_are_refused_and_named() {
        let error = serde_json::from_str::<Config>(r#"{"outer_steps": 3}"#).unwrap_err();
        assert!(error.to_string().contains("outer_steps"), "{error}");
    }
}
