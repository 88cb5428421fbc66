//! An endpoint: its address, its key and its format. The key is shown nowhere.

use std::fmt;

use mle_star_domain::config::Format;
use mle_star_domain::trouble::Trouble;
use url::{Host, Url};

/// What stands for a key in texts.
const HIDDEN: &str = "[key]";
/// A key that is shorter could be a part of other words, and is no secret.
const MIN_SECRET_LENGTH: usize = 8;

/// An endpoint with an OpenAI-compatible API.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    base: Url,
    key: Option<Key>,
    format: Format,
}

/// A key, which `Debug` does not print.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Key {
    /// A key, without white space around it; `None` if nothing is left.
    ///
    /// # Errors
    /// It has characters that no header can carry.
    pub fn new(text: &str) -> Result<Option<Self>, Trouble> {
        let text = text.trim();
        if !text.chars().all(|c| c.is_ascii_graphic()) {
            let message = "the key of the endpoint has characters that no key has";
            return Err(Trouble::new(message, "set its variable to the key alone, without quotes"));
        }
        Ok((!text.is_empty()).then(|| Self(text.to_owned())))
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl Endpoint {
    /// The endpoint below a base address such as `http://127.0.0.1:8080/v1`.
    ///
    /// # Errors
    /// The address is not one of a server, or holds a login or a query.
    pub fn new(address: &str, key: Option<Key>, format: Format) -> Result<Self, Trouble> {
        const HINT: &str =
            "set openai.url to the address before /chat/completions, such as http://127.0.0.1:8080/v1";
        let wrong = |what: &str| Trouble::new(format!("the endpoint's address {what}"), HINT);
        let mut base =
            Url::parse(address.trim()).map_err(|error| wrong(&format!("is not valid: {error}")))?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(wrong("must begin with http:// or https://"));
        }
        // Addresses are shown and stored, so no secret may be in one.
        if !base.username().is_empty() || base.password().is_some() {
            return Err(wrong("must not hold a user name or a password"));
        }
        if base.query().is_some() || base.fragment().is_some() {
            return Err(wrong("must not hold a ? or #"));
        }
        let path = base.path().trim_end_matches('/').to_owned();
        let path = ["/chat/completions", "/responses"]
            .iter()
            .find_map(|end| path.strip_suffix(end))
            .unwrap_or(&path);
        let path = path.to_owned();
        base.set_path(&path);
        Ok(Self { base, key, format })
    }

    /// The base address, without a slash at its end.
    pub fn address(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Whether there is a key.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    /// The format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the endpoint is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        match self.base.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => false,
        }
    }

    /// Whether it is asked over TLS.
    pub(crate) fn is_secure(&self) -> bool {
        self.base.scheme() == "https"
    }

    pub(crate) fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// The address of a service of the endpoint.
    pub(crate) fn url_of(&self, service: &str) -> String {
        format!("{}/{service}", self.address())
    }

    /// A text of the endpoint without the key.
    pub(crate) fn redact(&self, text: &str) -> String {
        match &self.key {
            Some(Key(key)) if key.len() >= MIN_SECRET_LENGTH => text.replace(key, HIDDEN),
            _ => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_understood_or_refused() {
        let check = |address: &str, expected: Result<&str, &str>| {
            let endpoint = Endpoint::new(address, None, Format::Chat);
            match (endpoint, expected) {
                (Ok(endpoint), Ok(expected)) => assert_eq!(endpoint.url_of("models"), expected, "{address}"),
                (Err(trouble), Err(expected)) => assert!(trouble.message.contains(expected), "{trouble}"),
                (endpoint, _) => panic!("{address}: {endpoint:?}"),
            }
        };
        check("http://127.0.0.1:8080/v1", Ok("http://127.0.0.1:8080/v1/models"));
        check(" https://example.org/v1/ ", Ok("https://example.org/v1/models"));
        check("https://example.org/v1/chat/completions", Ok("https://example.org/v1/models"));
        check("https://example.org/api/responses/", Ok("https://example.org/api/models"));
        check("localhost:8080/v1", Err("must begin with http://"));
        check("example.org", Err("is not valid"));
        check("https://user:secret@example.org/v1", Err("must not hold a user name"));
        check("https://example.org/v1?key=secret", Err("must not hold a ?"));
    }

    #[test]
    fn the_key_is_neither_printed_nor_left_in_texts() {
        let key = Key::new(" sk-very-secret\n").unwrap();
        let endpoint = Endpoint::new("https://example.org/v1", key, Format::Chat).unwrap();
        let printed = format!("{endpoint:?} {:?}", endpoint.key());
        assert!(!printed.contains("very-secret"), "{printed}");
        assert_eq!(endpoint.redact("Incorrect key: sk-very-secret!"), "Incorrect key: [key]!");
        assert_eq!(endpoint.key().map(Key::reveal), Some("sk-very-secret"));
        assert!(Key::new("").unwrap().is_none());
        assert!(Key::new("two words").is_err() && Key::new("schlüssel").is_err());
    }

    #[test]
    fn endpoints_of_this_machine_are_known() {
        let check = |address: &str, is_local: bool| {
            let endpoint = Endpoint::new(address, None, Format::Chat).unwrap();
            assert_eq!(endpoint.is_local(), is_local, "{address}");
        };
        check("http://localhost:11434/v1", true);
        check("http://127.1.2.3/v1", true);
        check("https://api.openai.com/v1", false);
        check("http://localhost.example.org/v1", false);
    }
}
