//! Finds logins to a language model in the environment. Names of variables are shown, values never.
//!
//! The `claude` command line reads keys and logins itself; this module finds out which one it will use.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::settings::Environment;

/// A kind of login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Login {
    /// Amazon Bedrock.
    Bedrock,
    /// Google Vertex AI.
    Vertex,
    /// Microsoft Foundry.
    Foundry,
    /// `ANTHROPIC_AUTH_TOKEN`, for gateways.
    Token,
    /// `ANTHROPIC_API_KEY`.
    ApiKey,
    /// The long-lived token of a subscription, `CLAUDE_CODE_OAUTH_TOKEN`.
    #[serde(rename = "oauth")]
    OAuth,
    /// The login of a subscription that `claude` has stored.
    Stored,
}

/// The findings about one kind of login.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundLogin {
    /// The kind.
    pub login: Login,
    /// Names of the variables that are set, or the path of the credentials file.
    pub by: Vec<String>,
    /// Whether it is complete.
    pub usable: bool,
    /// Whether it is the one that `claude` uses.
    pub used: bool,
}

/// The variables of each login; the first one of a cloud provider is its switch.
const VARIABLES: [(Login, &[&str]); 6] = [
    (
        Login::Bedrock,
        &[
            "CLAUDE_CODE_USE_BEDROCK",
            "AWS_REGION",
            "AWS_PROFILE",
            "AWS_ACCESS_KEY_ID",
            "AWS_BEARER_TOKEN_BEDROCK",
            "ANTHROPIC_BEDROCK_BASE_URL",
        ],
    ),
    (
        Login::Vertex,
        &[
            "CLAUDE_CODE_USE_VERTEX",
            "CLOUD_ML_REGION",
            "ANTHROPIC_VERTEX_PROJECT_ID",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "ANTHROPIC_VERTEX_BASE_URL",
        ],
    ),
    (
        Login::Foundry,
        &[
            "CLAUDE_CODE_USE_FOUNDRY",
            "ANTHROPIC_FOUNDRY_RESOURCE",
            "ANTHROPIC_FOUNDRY_API_KEY",
            "ANTHROPIC_FOUNDRY_BASE_URL",
        ],
    ),
    (Login::Token, &["ANTHROPIC_AUTH_TOKEN"]),
    (Login::ApiKey, &["ANTHROPIC_API_KEY"]),
    (Login::OAuth, &["CLAUDE_CODE_OAUTH_TOKEN"]),
];

/// The login that `claude` uses, with its variables or file; `None` if there is none.
pub fn login(environment: &Environment<'_>) -> Option<FoundLogin> {
    logins(environment).into_iter().find(|found| found.used)
}

/// All logins, by precedence.
pub fn logins(environment: &Environment<'_>) -> Vec<FoundLogin> {
    let set = |name: &&&str| environment(name).is_some_and(|value| !value.trim().is_empty());
    let named = VARIABLES.iter().map(|(login, names)| {
        let by: Vec<String> = names.iter().filter(set).map(|name| (*name).to_owned()).collect();
        let usable = if login.is_cloud() { is_truthy(environment(names[0])) } else { !by.is_empty() };
        FoundLogin { login: *login, by, usable, used: false }
    });
    let by: Vec<String> = stored(environment).map(|path| path.display().to_string()).into_iter().collect();
    let stored = FoundLogin { login: Login::Stored, usable: !by.is_empty(), by, used: false };
    let mut all: Vec<FoundLogin> = named.chain([stored]).collect();
    if let Some(first) = all.iter_mut().find(|found| found.usable) {
        first.used = true;
    }
    all
}

/// The host of the gateway that requests go to; `None`: the default API.
pub fn gateway(environment: &Environment<'_>) -> Option<String> {
    let url = environment("ANTHROPIC_BASE_URL").filter(|url| !url.is_empty())?;
    // Not parsed with `url`: an address without a scheme is shown, too.
    let address = url.split_once("://").map_or(url.as_str(), |(_, address)| address);
    let host = address.split(['/', '?', '#']).next().unwrap_or_default();
    // A user name and password may precede an @.
    Some(host.rsplit('@').next().unwrap_or(host).to_owned())
}

impl Login {
    /// The name of the login for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Bedrock => "Amazon Bedrock",
            Self::Vertex => "Google Vertex AI",
            Self::Foundry => "Microsoft Foundry",
            Self::Token => "auth token",
            Self::ApiKey => "API key",
            Self::OAuth => "subscription token",
            Self::Stored => "subscription login",
        }
    }

    /// Whether `claude --bare` uses it. It ignores subscription logins.
    pub fn survives_bare(self) -> bool {
        !matches!(self, Self::OAuth | Self::Stored)
    }

    fn is_cloud(self) -> bool {
        matches!(self, Self::Bedrock | Self::Vertex | Self::Foundry)
    }
}

impl FoundLogin {
    /// The reason for choosing it: `ANTHROPIC_API_KEY is set`.
    pub fn reason(&self) -> String {
        match (self.login, self.by.first()) {
            (Login::Stored, _) => "a stored login".to_owned(),
            (_, Some(name)) => format!("{name} is set"),
            (_, None) => self.login.title().to_owned(),
        }
    }
}

/// A switch set to `0` or `false` is off.
fn is_truthy(value: Option<String>) -> bool {
    value.is_some_and(|value| ["1", "true", "yes", "on"].contains(&value.trim().to_lowercase().as_str()))
}

fn stored(environment: &Environment<'_>) -> Option<PathBuf> {
    let own = environment("CLAUDE_CONFIG_DIR").filter(|path| !path.is_empty()).map(PathBuf::from);
    let folder = own.or_else(|| Some(Path::new(&environment("HOME")?).join(".claude")))?;
    Some(folder.join(".credentials.json")).filter(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_environment<T>(set: &[(&str, &str)], look: impl FnOnce(&Environment<'_>) -> T) -> T {
        look(&|name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_gateway_is_shown_by_its_host_alone() {
        let url = "https://user:secret@llm.example.com/v1?key=secret";
        let found = in_environment(&[("ANTHROPIC_BASE_URL", url)], gateway);
        assert_eq!(found.as_deref(), Some("llm.example.com"));
    }

    #[test]
    fn the_login_that_claude_uses_is_found_by_name() {
        let home = tempfile::tempdir().unwrap();
        let (empty, full) = (home.path().join("empty"), home.path().join("full"));
        std::fs::create_dir_all(full.join(".claude")).unwrap();
        std::fs::write(full.join(".claude/.credentials.json"), "{}").unwrap();
        let (empty, full) = (empty.to_str().unwrap(), full.to_str().unwrap());
        let own = format!("{full}/.claude");
        let check = |set: &[(&str, &str)], expected: Option<(Login, &str)>| {
            let found = in_environment(set, login).map(|found| (found.login, found.reason()));
            assert_eq!(found, expected.map(|(login, reason)| (login, reason.to_owned())), "{set:?}");
        };
        let key = ("ANTHROPIC_API_KEY", "k");
        check(&[], None);
        check(&[("HOME", empty)], None);
        check(&[("ANTHROPIC_API_KEY", " ")], None);
        check(&[("ANTHROPIC_BASE_URL", "http://gateway")], None);
        check(&[key], Some((Login::ApiKey, "ANTHROPIC_API_KEY is set")));
        check(&[("ANTHROPIC_AUTH_TOKEN", "t"), key], Some((Login::Token, "ANTHROPIC_AUTH_TOKEN is set")));
        check(&[("CLAUDE_CODE_OAUTH_TOKEN", "t")], Some((Login::OAuth, "CLAUDE_CODE_OAUTH_TOKEN is set")));
        check(&[("HOME", full)], Some((Login::Stored, "a stored login")));
        check(&[("HOME", empty), ("CLAUDE_CONFIG_DIR", &own)], Some((Login::Stored, "a stored login")));
        check(&[("HOME", full), ("CLAUDE_CONFIG_DIR", empty)], None);
        for (switch, login) in [
            ("CLAUDE_CODE_USE_BEDROCK", Login::Bedrock),
            ("CLAUDE_CODE_USE_VERTEX", Login::Vertex),
            ("CLAUDE_CODE_USE_FOUNDRY", Login::Foundry),
        ] {
            check(&[(switch, "1"), key], Some((login, &format!("{switch} is set"))));
            check(&[(switch, "True")], Some((login, &format!("{switch} is set"))));
            check(&[(switch, "0"), ("AWS_REGION", "us-east-1")], None);
            check(&[(switch, "false"), key], Some((Login::ApiKey, "ANTHROPIC_API_KEY is set")));
        }
    }
}
