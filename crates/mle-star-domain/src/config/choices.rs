//! The types of configuration keys whose values are words, such as `on` and `off`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which agents answer prompts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AgentsChoice {
    /// `offline`; `claude`, if the command and a login are found, after a yes in the terminal or with `max_budget_usd`.
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
    /// It is better by more than one standard error of the paired difference. Of scores that are closer, the solution that
    /// averages several models wins, if the other does not, then that with the shorter script, then the better score. For the offline agents, and where
    /// standard errors are unknown, as in the paper.
    Auto,
    /// Its score is not worse, as in the paper.
    Paper,
    /// It is better by more than one standard error of the paired difference.
    OneSigma,
}

/// How the final solution is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FinalChoice {
    /// The validation score, unless one half of 2,000 or more held-out rows contradicts it. Then this half chooses among all
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
    /// Scripts whose score would be accepted, unless nothing changed that can leak, and those that a combination uses. A corrected
    /// script runs again.
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
