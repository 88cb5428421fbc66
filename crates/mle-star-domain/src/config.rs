//! The configuration of a run: one table of keys.
//!
//! A row of [`Config`] has the doc comment, the type and the default of a key, and what else is known of it: its range,
//! its variable, the agents that use it, its value in the preset of the paper. Struct, defaults, checks and presets come
//! from the rows, and so do the layers of settings and the docs outside this crate. [`Config`] is the content of
//! `config.json`, with a value for every key.

mod choices;
mod endpoint;
mod holdout;
mod key;

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::role::AgentType;
use crate::search;
use AgentsChoice::{Claude, Codex, Files, Offline, OpenAi as Endpoint};

pub use choices::{
    Acceptance, AgentsChoice, Context, FinalChoice, LeakageCheck, LeakageGate, Preset, Probes, Switch,
};
pub use endpoint::{Format, OpenAi, Price};
pub use holdout::HoldoutShare;
pub use key::{Form, Key, OutOfRange};

/// The most solutions of a combination that agents are asked to keep a model of.
pub const MAX_KEPT_MODELS: u64 = 5;
/// Agents that ask a language model.
const MODEL_AGENTS: &[AgentsChoice] = &[Claude, Endpoint, Codex];
/// Agents that are asked with a prompt.
const PROMPTED_AGENTS: &[AgentsChoice] = &[Claude, Files, Endpoint, Codex];
/// The permission modes of `claude`.
const PERMISSION_MODES: [&str; 7] =
    ["bypassPermissions", "default", "manual", "acceptEdits", "auto", "dontAsk", "plan"];
/// What the shares of `phase_time_budget` are.
const SHARES: &str = "four shares of at least 0 that add up to 100, with finalization above 0";
/// The seed of a run without another one.
pub const SEED: u32 = 42;
/// Libraries take seeds of 32 bits, and scripts add a little to theirs.
const MAX_SEED: u64 = 1_000_000_000;
/// In seconds.
const TEN_YEARS: u64 = 315_360_000;

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

crate::keys! {
    /// All settings of a run. Counts carry the paper's letters: M, T, K, L, R. Deserialization checks every range.
    ///
    /// `docs/configuration.md` shows the doc comments of the keys and their values.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    // `remote` makes the derive generate functions instead of the two traits, which are implemented below with range
    // checks.
    #[serde(default, deny_unknown_fields, remote = "Self")]
    pub struct Config {
        /// M: models to try.
        num_retrieved_models: u32 = 4, at_least(1), at_most(100_000);
        /// T: ablation studies and refinements on each path.
        outer_loop_steps: u32 = 4, at_least(1), at_most(100_000);
        /// K: attempts at each code block.
        inner_loop_steps: u32 = 4, at_least(1), at_most(100_000);
        /// L: refinement paths that run side by side.
        num_parallel_solutions: u32 = 2, at_least(1), at_most(1024);
        /// R: ensemble rounds.
        ensemble_rounds: u32 = 5, at_least(1), at_most(100_000);
        /// Wall-clock limit of the run, in seconds, without interruptions. The search stops when a tenth is left, or earlier
        /// if the last run on all rows needs more, at most half.
        time_limit_seconds: u64 = 86_400,
            at_least(1),
            at_most(TEN_YEARS),
            variable("MLE_STAR_TIME_LIMIT"),
            raisable();
        /// The most training rows that scripts use before finalization.
        subsample_limit: u32 = 30_000, at_least(1);
        /// The most repairs of one failing script.
        max_debug_attempts: u32 = 3, at_least(1), at_most(100_000);
        /// Limit on the cost of agents, in US dollars, exceeded by one call at most. The offline agents cost nothing.
        max_budget_usd: Option<f64> = None,
            must(is_budget, "a positive number of US dollars"),
            variable("MLE_STAR_MAX_BUDGET"),
            raisable();
        /// Permission mode of `claude` for agents with tools. With the default, the program itself decides about every use of
        /// a tool.
        permission_mode: String = "bypassPermissions".to_owned(), one_of(&PERMISSION_MODES), only(&[Claude]);
        /// Model of the agents: an alias or a full name. The default is for `claude`; `openai` and `codex` need a name.
        model: String = "sonnet".to_owned(), text(), variable("MLE_STAR_MODEL"), only(PROMPTED_AGENTS);
        /// Level of `logs/mle-star.log`: `ERROR`, `WARN`, `INFO` or `DEBUG`. `DEBUG` also logs prompts and replies, and
        /// prints log lines on the console.
        log_level: String = "INFO".to_owned(),
            text(),
            one_of(&["ERROR", "WARN", "INFO", "DEBUG"]),
            variable("MLE_STAR_LOG_LEVEL");
        /// A second log file, which is appended to.
        log_file: Option<PathBuf> = None, path();
        /// Shares of the time in percent. They add up to 100.
        phase_time_budget: PhaseTimeBudget = PhaseTimeBudget::default(),
            must(|config| config.phase_time_budget.is_whole(), SHARES);
        /// Who answers the prompts.
        agents: AgentsChoice = AgentsChoice::Auto;
        /// Time limit of one script, in seconds. Without it, a script may use the time that is left in its phase.
        script_timeout_seconds: Option<u64> = None, at_least(1), at_most(TEN_YEARS);
        /// Time limit of one agent call, in seconds.
        agent_timeout_seconds: u64 = 900,
            at_least(1),
            at_most(TEN_YEARS),
            only(&[Claude, Offline, Endpoint, Codex]);
        /// How long one call waits for an overloaded service, in seconds.
        overload_patience_seconds: u64 = 3600, at_most(TEN_YEARS), only(MODEL_AGENTS);
        /// The most agent calls at once.
        max_concurrent_agents: u32 = 8, at_least(1), at_most(1024);
        /// The most scripts at once on this machine (option `--jobs`); each gets an equal share of cores and GPUs. Without it,
        /// one per GPU, at least one. 0: all scripts run on runners.
        max_concurrent_scripts: Option<u32> = None, at_most(1024);
        /// The Python interpreter, used as it is: nothing is installed into it. Without it, the program makes an
        /// environment of its own.
        python: Option<PathBuf> = None, command();
        /// Network access of scripts.
        network: Switch = Switch::Off, switch();
        /// Memory limit of one script with its child processes, in MiB. Without it, 90 % of the machine's memory.
        memory_limit_mb: Option<u64> = None, at_least(1);
        /// Models of single agents, such as `agent_models.coder`.
        agent_models: BTreeMap<AgentType, String> = BTreeMap::new(), only(PROMPTED_AGENTS);
        /// The `claude` executable. Without it, `claude` on PATH.
        claude_path: Option<PathBuf> = None, command(), variable("MLE_STAR_CLAUDE_PATH"), only(&[Claude]);
        /// The `codex` executable. Without it, `codex` on PATH.
        codex_path: Option<PathBuf> = None, command(), variable("MLE_STAR_CODEX_PATH"), only(&[Codex]);
        /// The folder for the calls of `agents: files`. Without it, `agents` in the run folder.
        agents_dir: Option<PathBuf> = None, path(), variable("MLE_STAR_AGENTS_DIR"), only(&[Files]);
        /// The endpoint of `agents: openai`.
        openai: OpenAi = OpenAi::default(), only(&[Endpoint]);
        /// Prices by model, for agents that do not report their cost.
        prices: BTreeMap<String, Price> = BTreeMap::new(),
            names(),
            must(endpoint::are_prices, "US dollars per million tokens, 0 or more"),
            only(&[Endpoint, Codex]);
        /// Whether the retriever searches the web.
        search: Switch = Switch::On, switch(), only(PROMPTED_AGENTS);
        /// The program that searches the web for `agents: openai`, with its arguments.
        search_command: Vec<String> = Vec::new(),
            must(endpoint::is_command, "a program with its arguments"),
            only(&[Endpoint]);
        /// Domains, with or without a path, that the retriever must not read. Without them, the discussion and code pages
        /// of the competition.
        search_blocked_domains: Vec<String> = Vec::new(),
            must(are_domains, "domains, with or without a path"),
            only(MODEL_AGENTS);
        /// Shell commands that agents must not run, as parts of a command line.
        blocked_commands: Vec<String> = ["rm -rf /", "mkfs", "dd if=", ":(){ :|:& };:"].map(str::to_owned).into(),
            only(&[Claude]);
        /// A file with models to try, instead of asking the retriever.
        retrieved_models: Option<PathBuf> = None, path();
        /// Whether scripts start in a process that has already imported their libraries.
        warm_start: Switch = Switch::On, switch();
        /// A folder with templates that replace the built-in ones.
        prompts: Option<PathBuf> = None, path();
        /// A set of defaults. Keys that you set win over it.
        preset: Preset = Preset::Default;
        /// The seed of the held-out rows, of the folds and the sample that agents are told to use, and of the scripts of the
        /// offline agents. Answers of language models do not depend on it.
        seed: u32 = SEED, at_most(MAX_SEED);
        /// Labelled rows that no script sees before the final choice: `auto` (15 % if at least 2,000 rows are labelled),
        /// `off`, or a share from 0.05 to 0.4.
        holdout: HoldoutShare = HoldoutShare::Auto,
            must(|config| config.holdout.is_in_range(), holdout::VALUES),
            paper("off");
        /// The most rows that are held out.
        holdout_rows: u32 = 20_000, at_least(1);
        /// When a solution replaces the best one.
        acceptance: Acceptance = Acceptance::Auto, paper("paper");
        /// What chooses the final solution.
        final_choice: FinalChoice = FinalChoice::Auto, paper("validation");
        /// What the agents are told.
        context: Context = Context::Full, paper("paper");
        /// Which scripts an agent checks for leakage.
        leakage_check: LeakageCheck = LeakageCheck::Accepted, paper("each");
        /// What becomes of a script in which the program finds a leak before it is scored.
        leakage_gate: LeakageGate = LeakageGate::Block, paper("off");
        /// Whether the final solution is checked before it is submitted: it runs on changed data and with watched fits, to see
        /// whether its score can be believed.
        probes: Probes = Probes::Final, paper("off");
        /// Whether the predictions of all solutions are combined by weights, as one more ensemble. Agents are asked only to
        /// check its members for leaks and for subsampling.
        ensemble_selection: Switch = Switch::On, switch(), paper("off");
    }
}

impl Default for PhaseTimeBudget {
    fn default() -> Self {
        Self { phase1_pct: 10.0, phase2_pct: 65.0, phase3_pct: 15.0, finalization_pct: 10.0 }
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

    /// Every key, with those inside others.
    pub fn keys() -> impl Iterator<Item = &'static Key> {
        Self::KEYS.iter().chain(&endpoint::KEYS)
    }

    /// Checks every range.
    ///
    /// # Errors
    /// The first key whose value is outside its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        // Numbers that JSON does not know are checked by rules of their own.
        let values = serde_json::to_value(self).unwrap_or_default();
        Self::keys().try_for_each(|key| key.check(self, &values))
    }

    /// The keys that a preset sets, with their values. Keys that the user gives win over them.
    pub fn of_preset(preset: Preset) -> Map<String, Value> {
        let of_paper = |key: &Key| Some((key.name.to_owned(), Value::from(key.paper?)));
        match preset {
            Preset::Default => Map::new(),
            Preset::Paper => Self::keys().filter_map(of_paper).collect(),
        }
    }
}

fn is_budget(config: &Config) -> bool {
    config.max_budget_usd.is_none_or(|usd| usd.is_finite() && usd > 0.0)
}

fn are_domains(config: &Config) -> bool {
    config.search_blocked_domains.iter().all(|rule| search::plain_rule(rule).is_some())
}

impl PhaseTimeBudget {
    fn is_whole(self) -> bool {
        let shares = [self.phase1_pct, self.phase2_pct, self.phase3_pct, self.finalization_pct];
        let in_range = shares.iter().all(|share| share.is_finite() && *share >= 0.0);
        let sum: f64 = shares.iter().sum();
        in_range && (sum - 100.0).abs() < 1e-6 && self.finalization_pct > 0.0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_defaults_are_valid_and_survive_json() {
        let config = Config::default();
        assert_eq!(config.validate(), Ok(()));
        let text = serde_json::to_string(&config).unwrap();
        assert_eq!(serde_json::from_str::<Config>(&text).unwrap(), config);
        assert_eq!(serde_json::from_str::<Config>("{}").unwrap(), config);
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
        let counts = "num_retrieved_models outer_loop_steps inner_loop_steps num_parallel_solutions ensemble_rounds \
                      time_limit_seconds subsample_limit max_debug_attempts script_timeout_seconds \
                      agent_timeout_seconds max_concurrent_agents memory_limit_mb holdout_rows";
        for field in counts.split_whitespace() {
            let with = |value: u32| serde_json::from_value::<Config>(json!({field: value}));
            let error = with(0).unwrap_err().to_string();
            assert!(error.contains(&format!("{field} must be at least 1")), "{error}");
            assert!(with(1).is_ok(), "{field}");
        }
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
}
