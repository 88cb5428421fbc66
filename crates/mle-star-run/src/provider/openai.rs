//! OpenAI-compatible APIs: their address, their key, and the agents behind them.

use std::time::Duration;

use mle_star_domain::config::Config;
use mle_star_domain::trouble::Trouble;
use mle_star_openai::{Endpoint, Key, OpenAiAgents, OpenAiSetup};
use mle_star_process::variables::is_secret;

use crate::settings::Environment;

/// The variable with the base address that OpenAI's own clients use.
const BASE_URL: &str = "OPENAI_BASE_URL";
/// The base address without any setting.
const OPENAI: &str = "https://api.openai.com/v1";

/// The endpoint that the settings and the environment name. Nothing is sent to it.
///
/// # Errors
/// The address or the variable's name cannot be used, or the key that OpenAI itself requires is missing.
pub fn endpoint(config: &Config, environment: &Environment<'_>) -> Result<Endpoint, Trouble> {
    let variable = &config.openai.key_variable;
    if !is_secret(variable) {
        // Scripts do not see the variables with such names.
        let message = format!("openai.key_variable is \"{variable}\", which is not the name of a secret");
        return Err(Trouble::new(message, "use a variable whose name ends with _KEY or _TOKEN"));
    }
    let key = environment(variable).map(|key| Key::new(&key)).transpose()?.flatten();
    let address = config.openai.url.clone().or_else(|| environment(BASE_URL));
    let endpoint = Endpoint::new(address.as_deref().unwrap_or(OPENAI), key, config.openai.format)?;
    if endpoint.address() == OPENAI && !endpoint.has_key() {
        let hint =
            format!("set {variable}, or openai.url to another endpoint such as http://127.0.0.1:8080/v1");
        return Err(Trouble::new(format!("{OPENAI} needs a key, and {variable} is not set"), hint));
    }
    Ok(endpoint)
}

/// Where an endpoint is, and whether there is a key.
pub fn reason(endpoint: &Endpoint, config: &Config) -> String {
    let (address, variable) = (endpoint.address(), &config.openai.key_variable);
    match endpoint.has_key() {
        true => format!("{address}; {variable} is set"),
        false => format!("{address}; without a key, because {variable} is not set"),
    }
}

/// The agents behind an endpoint, for a run or a probe.
///
/// # Errors
/// The system offers no secure connections.
pub fn ask_openai(endpoint: &Endpoint, config: &Config) -> Result<OpenAiAgents, Trouble> {
    OpenAiAgents::new(OpenAiSetup {
        endpoint: endpoint.clone(),
        key_variable: config.openai.key_variable.clone(),
        max_wait: Duration::from_secs(config.overload_patience_seconds),
        stall: Duration::from_secs(config.openai.stall_seconds),
        max_tokens: config.openai.max_tokens,
        prices: config.prices.clone(),
        search_command: config.search_command.clone(),
        blocked_domains: config.search_blocked_domains.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_comes_from_settings_environment_or_default() {
        let check = |url: Option<&str>, set: &[(&str, &str)], expected: Result<&str, &str>| {
            let mut config = Config::default();
            config.openai.url = url.map(str::to_owned);
            let look = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            };
            let found = endpoint(&config, &look).map(|endpoint| reason(&endpoint, &config));
            match expected {
                Ok(expected) => assert_eq!(found.unwrap(), expected),
                Err(expected) => assert!(found.unwrap_err().message.contains(expected), "{expected}"),
            }
        };
        let key = ("OPENAI_API_KEY", "sk-secret");
        check(None, &[key], Ok("https://api.openai.com/v1; OPENAI_API_KEY is set"));
        check(None, &[], Err("https://api.openai.com/v1 needs a key, and OPENAI_API_KEY is not set"));
        let other = ("OPENAI_BASE_URL", "http://gateway:4000/v1/");
        check(None, &[key, other], Ok("http://gateway:4000/v1; OPENAI_API_KEY is set"));
        let keyless = "http://127.0.0.1:8080/v1; without a key, because OPENAI_API_KEY is not set";
        check(Some("http://127.0.0.1:8080/v1"), &[other], Ok(keyless));
        check(Some("127.0.0.1:8080"), &[key], Err("the endpoint's address"));
        check(None, &[("OPENAI_API_KEY", "two words")], Err("characters that no key has"));
    }

    #[test]
    fn the_key_is_in_a_variable_that_scripts_do_not_see() {
        let check = |variable: &str, is_fine: bool| {
            let mut config = Config::default();
            config.openai.key_variable = variable.to_owned();
            config.openai.url = Some("http://127.0.0.1:8080/v1".to_owned());
            let found = endpoint(&config, &|name: &str| (name == variable).then(|| "k".to_owned()));
            assert_eq!(found.is_ok_and(|endpoint| endpoint.has_key()), is_fine, "{variable}");
        };
        check("OPENROUTER_API_KEY", true);
        check("GEMINI_API_KEY", true);
        check("MY_TOKEN", true);
        check("LOGIN", false);
        check("", false);
    }
}
