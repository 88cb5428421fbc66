//! The package registry: pip and uv get the same settings of it, and what keeps them from it becomes an error.

use std::env;

use mle_star_domain::trouble::Trouble;
use tokio::process::Command;

/// Settings of pip and what uv calls them. uv separates folders by commas where pip has blanks.
const SAME: [(&str, &[&str]); 5] = [
    ("PIP_INDEX_URL", &["UV_DEFAULT_INDEX", "UV_INDEX_URL"]),
    ("PIP_EXTRA_INDEX_URL", &["UV_EXTRA_INDEX_URL"]),
    ("PIP_TRUSTED_HOST", &["UV_INSECURE_HOST"]),
    ("PIP_CERT", &["SSL_CERT_FILE"]),
    ("PIP_FIND_LINKS", &["UV_FIND_LINKS"]),
];
/// The setting that lists folders.
const FOLDERS: &str = "PIP_FIND_LINKS";

/// What stands between this machine and the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// No connection.
    Network,
    /// A proxy that cannot be reached or refuses.
    Proxy,
    /// A certificate that is not trusted, such as that of a proxy which decrypts the traffic.
    Certificate,
}

/// Gives uv the settings that the user made for pip, and pip those for uv.
pub(super) fn share_settings(command: &mut Command) {
    share(&|name| env::var(name).ok().filter(|value| !value.is_empty()), &mut |name, value| {
        command.env(name, value);
    });
}

fn share(get: &dyn Fn(&str) -> Option<String>, set: &mut dyn FnMut(&str, String)) {
    for (of_pip, of_uv) in SAME {
        let (from, to) = if of_pip == FOLDERS { (" ", ",") } else { ("", "") };
        match (get(of_pip), of_uv.iter().find_map(|name| get(name))) {
            (Some(value), None) if from.is_empty() => set(of_uv[0], value),
            (Some(value), None) => set(of_uv[0], value.split_whitespace().collect::<Vec<_>>().join(to)),
            (None, Some(value)) if from.is_empty() => set(of_pip, value),
            (None, Some(value)) => set(of_pip, value.replace(to, from)),
            _ => {}
        }
    }
}

/// Whether the user wants packages from folders only (`PIP_NO_INDEX`). uv has an option for it, but no variable.
pub(super) fn is_registry_disabled() -> bool {
    let is_yes = |value: String| {
        !matches!(value.to_lowercase().as_str(), "" | "0" | "false" | "no" | "off" | "n" | "f")
    };
    env::var("PIP_NO_INDEX").is_ok_and(is_yes)
}

impl Obstacle {
    /// What pip or uv met, by what they printed.
    pub(super) fn reported_in(printed: &str) -> Option<Self> {
        let has = |words: &[&str]| words.iter().any(|word| printed.contains(word));
        if has(&["CERTIFICATE_VERIFY_FAILED", "invalid peer certificate"]) {
            Some(Self::Certificate)
        } else if has(&["ProxyError", "Tunnel connection failed", "tunnel error"]) {
            Some(Self::Proxy)
        } else {
            has(&["after connection broken by", "error sending request for url"]).then_some(Self::Network)
        }
    }

    /// The obstacle as a reason.
    pub(super) fn reason(self) -> &'static str {
        match self {
            Self::Network => "the package registry cannot be reached",
            Self::Proxy => "the proxy cannot be reached, or does not let pip and uv through",
            Self::Certificate => "the certificate of the package registry is not trusted",
        }
    }

    /// The error for the user, with what to do.
    pub(super) fn trouble(self) -> Trouble {
        let hint = match self {
            Self::Network => {
                "connect this machine to the network for the first run, or set PIP_INDEX_URL to a registry that it \
                 reaches or HTTPS_PROXY to its proxy, or set `python` to an interpreter that has the libraries"
            }
            Self::Proxy => {
                "correct HTTPS_PROXY, or name the registry in NO_PROXY, or set PIP_INDEX_URL to another registry, or \
                 set `python` to an interpreter that has the libraries"
            }
            Self::Certificate => {
                "set PIP_CERT to a file with the certificates of your network, or set `python` to an interpreter \
                 that has the libraries"
            }
        };
        Trouble::new(format!("cannot install the Python libraries: {}", self.reason()), hint)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn pip_and_uv_get_the_same_settings() {
        let check = |set: &[(&str, &str)], expected: &[(&str, &str)]| {
            let get = |name: &str| Some(set.iter().find(|(known, _)| *known == name)?.1.to_owned());
            let mut made = BTreeMap::new();
            share(&get, &mut |name, value| drop(made.insert(name.to_owned(), value)));
            let made: Vec<(&str, &str)> = made.iter().map(|(name, value)| (&**name, &**value)).collect();
            assert_eq!(made, expected, "{set:?}");
        };
        check(&[], &[]);
        check(&[("PIP_INDEX_URL", "http://a")], &[("UV_DEFAULT_INDEX", "http://a")]);
        check(&[("UV_INDEX_URL", "http://b")], &[("PIP_INDEX_URL", "http://b")]);
        check(&[("UV_EXTRA_INDEX_URL", "http://c")], &[("PIP_EXTRA_INDEX_URL", "http://c")]);
        check(&[("UV_DEFAULT_INDEX", "http://b"), ("PIP_INDEX_URL", "http://a")], &[]);
        check(&[("PIP_FIND_LINKS", "/a  /b")], &[("UV_FIND_LINKS", "/a,/b")]);
        check(&[("UV_FIND_LINKS", "/a,/b")], &[("PIP_FIND_LINKS", "/a /b")]);
        check(&[("PIP_CERT", "/c.pem")], &[("SSL_CERT_FILE", "/c.pem")]);
    }
}
