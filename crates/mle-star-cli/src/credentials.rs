//! Which agents answer, and why.

use mle_star::config::AgentsChoice;
use mle_star::stop::Trouble;

use crate::settings::Environment;

/// Variables that hold a login or point to one.
pub const VARIABLES: [&str; 6] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
];

/// The names of the credentials that are set; never their values.
pub fn present(environment: &Environment<'_>) -> Vec<&'static str> {
    VARIABLES.into_iter().filter(|name| environment(name).is_some()).collect()
}

/// The agents of a run and the reason for them, as shown first.
///
/// # Errors
/// Agents that this version does not have.
pub fn choose(choice: AgentsChoice) -> Result<(AgentsChoice, &'static str), Trouble> {
    match choice {
        AgentsChoice::Offline => Ok((AgentsChoice::Offline, "as asked for")),
        AgentsChoice::Auto => Ok((
            AgentsChoice::Offline,
            "built-in rules; agents that ask a language model come with a later version",
        )),
        AgentsChoice::Claude => Err(Trouble::new(
            "agents claude are not available in this version",
            "use --agents offline: rules built into the program, which need no key and no network",
        )),
    }
}
