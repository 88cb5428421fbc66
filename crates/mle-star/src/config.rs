//! The configuration of a run: keys, defaults and ranges.
//!
//! [`Config`] is the content of `config.json`, with a value for every key. The CLI layers environment, config file
//! and options over the defaults.

mod endpoint;
mod holdout;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::role::AgentType;
use crate::search;

pub use endpoint::{Format, OpenAi, Price};
pub use holdout::HoldoutShare;

/// Which agents answer prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AgentsChoice {
    /// `claude` if it and its credentials are found, otherwise `offline`.
    Auto,
    /// The `claude` CLI.
    Claude,
    /// Rules built into the program.
    Offline,
    /// A person or another program, through files.
    Files,
    /// An endpoint that speaks OpenAI's formats.
    OpenAi,
    /// The `codex` CLI.
    Codex,
}

/// On or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// When a solution replaces the best one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Acceptance {
    /// If its score is not worse, as in the paper.
    Paper,
    /// If it is better by more than one standard error of the paired difference.
    OneSigma,
}

/// How the final solution is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FinalChoice {
    /// By the validation score, as in the paper.
    Validation,
    /// By the score on one half of the held-out rows, among the few best by validation.
    Holdout,
}

/// What the agents are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
    /// Everything that helps: the data, earlier attempts with their effects, printed output, times.
    Full,
    /// What the paper's prompts tell.
    Paper,
}

/// When a script is checked for leakage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeakageCheck {
    /// Before each run, as in the paper.
    Each,
    /// Only if its score would be accepted. A corrected script runs again.
    Accepted,
}

/// What becomes of a script in which the program finds a leak before it is scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeakageGate {
    /// An agent corrects it. What still leaks gets no score.
    Block,
    /// The finding is shown.
    Warn,
    /// Scripts are not looked at.
    Off,
}

/// Which solutions run on changed data and with watched fits, to see whether their scores can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Probes {
    /// The one that would be submitted; the next best one if it is suspect.
    Final,
    /// None.
    Off,
}

/// A set of defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// The program's own.
    Default,
    /// The paper's algorithms and prompts with nothing added.
    Paper,
}

/// The phases' shares of the time in percent, which add up to 100.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
// `remote` makes the derive generate functions instead of the two traits, which are implemented below with range
// checks.
#[serde(default, deny_unknown_fields, remote = "Self")]
pub struct Config {
    /// M: number of models to retrieve and try.
    pub num_retrieved_models: u32,
    /// T: outer steps of refinement on each path.
    pub outer_loop_steps: u32,
    /// K: attempts at each code block.
    pub inner_loop_steps: u32,
    /// L: parallel refinement paths.
    pub num_parallel_solutions: u32,
    /// R: ensemble rounds.
    pub ensemble_rounds: u32,
    /// Wall-clock limit of the run, in seconds.
    pub time_limit_seconds: u64,
    /// Maximum number of training rows for scripts before finalization.
    pub subsample_limit: u32,
    /// Maximum number of repairs of one failing script.
    pub max_debug_attempts: u32,
    /// Budget of the run, in US dollars.
    pub max_budget_usd: Option<f64>,
    /// Permission mode of the agents.
    pub permission_mode: String,
    /// Model of the agents.
    pub model: String,
    /// Level of `mle-star.log`: `ERROR`, `WARN`, `INFO` or `DEBUG`.
    pub log_level: String,
    /// A second log file, which is appended to.
    pub log_file: Option<PathBuf>,
    /// Each phase's share of the time.
    pub phase_time_budget: PhaseTimeBudget,
    /// Which agents answer.
    pub agents: AgentsChoice,
    /// Time limit of one script, in seconds; `None` for the rest of its phase.
    pub script_timeout_seconds: Option<u64>,
    /// Time limit of one agent call, in seconds.
    pub agent_timeout_seconds: u64,
    /// Maximum time that a call waits for an overloaded service, in seconds.
    pub overload_patience_seconds: u64,
    /// Maximum number of concurrent agent calls.
    pub max_concurrent_agents: u32,
    /// Maximum number of concurrent scripts on this machine; `None` for one per GPU, at least one. 0: all run on runners.
    pub max_concurrent_scripts: Option<u32>,
    /// The Python interpreter; `None` for the program's own environment.
    pub python: Option<PathBuf>,
    /// Network access of scripts.
    pub network: Switch,
    /// Memory limit of one script with its child processes, in MiB.
    pub memory_limit_mb: Option<u64>,
    /// Models of individual agents.
    pub agent_models: BTreeMap<AgentType, String>,
    /// The `claude` executable.
    pub claude_path: Option<PathBuf>,
    /// The `codex` executable.
    pub codex_path: Option<PathBuf>,
    /// The folder for calls that are answered through files; `None` for `agents` in the run folder.
    pub agents_dir: Option<PathBuf>,
    /// The endpoint of `agents: openai`.
    pub openai: OpenAi,
    /// Prices of models, for agents that do not report their cost.
    pub prices: BTreeMap<String, Price>,
    /// Web search by the retriever.
    pub search: Switch,
    /// The program that searches the web for `agents: openai`, with its arguments; empty for none.
    pub search_command: Vec<String>,
    /// Pages that the retriever may not read: domains with or without a path. The default is the competition's
    /// discussion and code pages.
    pub search_blocked_domains: Vec<String>,
    /// Commands that agents may not run, as substrings of a command line.
    pub blocked_commands: Vec<String>,
    /// A file with models to use instead of the retriever's.
    pub retrieved_models: Option<PathBuf>,
    /// Start scripts in processes that have already imported their libraries.
    pub warm_start: Switch,
    /// A folder with templates that replace the built-in ones.
    pub prompts: Option<PathBuf>,
    /// The defaults of other keys.
    pub preset: Preset,
    /// What is drawn at random follows from it: the held-out rows, the folds that agents are told to use, and the scripts
    /// of the offline agents. Language models draw their answers themselves.
    pub seed: u32,
    /// The part of the labelled rows that no script sees before the final choice.
    pub holdout: HoldoutShare,
    /// Maximum number of held-out rows.
    pub holdout_rows: u32,
    /// When a solution replaces the best one.
    pub acceptance: Acceptance,
    /// How the final solution is chosen.
    pub final_choice: FinalChoice,
    /// What the agents are told.
    pub context: Context,
    /// When a script is checked for leakage.
    pub leakage_check: LeakageCheck,
    /// What becomes of a script in which the program finds a leak before it is scored.
    pub leakage_gate: LeakageGate,
    /// Whether the final solution runs on changed data and with watched fits, to see whether its score can be believed.
    pub probes: Probes,
    /// Combine the predictions of all solutions of the run by weights, as one more ensemble.
    pub ensemble_selection: Switch,
}

/// The permission modes of `claude`.
const PERMISSION_MODES: [&str; 7] =
    ["bypassPermissions", "default", "manual", "acceptEdits", "auto", "dontAsk", "plan"];

/// Keys of earlier versions, which occur in the files of finished runs.
const RETIRED: [&str; 2] = ["executor", "own_tools"];

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
            final_choice: FinalChoice::Validation,
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
        let mut keys = <Map<String, Value> as Deserialize>::deserialize(deserializer)?;
        RETIRED.iter().for_each(|key| drop(keys.remove(*key)));
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
            "final_choice": "validation",
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
        let earlier = serde_json::from_str::<Config>(r#"{"executor": "local", "outer_loop_steps": 3}"#);
        assert_eq!(earlier.unwrap().outer_loop_steps, 3);
    }
}
