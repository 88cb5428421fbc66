//! Which addresses the retriever may read, and which addresses a page may link to.
//!
//! [`is_blocked`] is asked before a page is read. A rule is a domain with or without a path
//! (`kaggle.com/competitions/titanic/code`); it covers the domain's subdomains and everything below the path.
//! [`solution_pages`] is the default set of rules. If an address can be read in several ways, it is blocked if any
//! reading is.

use percent_encoding::percent_decode_str;
use url::Url;

/// The pages below a competition's page on which solutions are published.
const PUBLISHED_AT: [&str; 6] = ["code", "discussion", "discussions", "kernels", "notebooks", "writeups"];
/// The two addresses of a competition's page.
const COMPETITION_AT: [&str; 2] = ["competitions", "c"];
/// All notebooks: their addresses do not name the competition.
const NOTEBOOKS: &str = "kaggle.com/code";
/// Maximum number of times an address is percent-decoded. Servers do not decode more often.
const MAX_DECODINGS: usize = 4;

/// A rule, or the page of an address: lower-case host and path segments.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    host: String,
    path: Vec<String>,
}

/// The pages with published solutions of a competition, as rules for [`is_blocked`]: its discussion and code pages
/// and all notebooks. Empty if the ID cannot be a competition's short name.
pub fn solution_pages(competition_id: &str) -> Vec<String> {
    let id = competition_id.trim().to_ascii_lowercase();
    let is_name = id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if id.is_empty() || !is_name {
        return Vec::new();
    }
    let below = |at: &str| PUBLISHED_AT.map(|name| format!("kaggle.com/{at}/{id}/{name}"));
    let pages = COMPETITION_AT.into_iter().flat_map(below);
    pages.chain([NOTEBOOKS.to_owned()]).collect()
}

/// Whether a rule in `blocked` covers `address`. Upper case, percent-encoding, ports, trailing dots, user names,
/// dot segments and backslashes make no difference. Addresses inside another address, as archives and proxies use,
/// are checked too. A text without a host is not blocked.
pub fn is_blocked(address: &str, blocked: &[String]) -> bool {
    let rules: Vec<Page> = blocked.iter().filter_map(|rule| page(&plain_rule(rule)?)).collect();
    !rules.is_empty() && readings(address).iter().any(|page| rules.iter().any(|rule| page.is_within(rule)))
}

/// A rule in the form that search services expect, `domain` or `domain/path`, without scheme, `www.`, `*.`, port
/// and query. `None` if the text is not a rule.
pub fn plain_rule(text: &str) -> Option<String> {
    let url = parsed(text.trim())?;
    let host = host(&url)?.trim_start_matches("*.").trim_start_matches("www.");
    let is_host = host.contains('.') && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    let path = url.path().trim_matches('/');
    is_host.then(|| if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") })
}

/// Whether a page may link to this address. This is stricter than a URL parser, which corrects errors: `http` or
/// `https`, two slashes, a host, and no white space, double quotes, backslashes or angle brackets.
pub fn is_link(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let rest = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    let is_plain = !text.chars().any(|c| c.is_whitespace() || c.is_control() || "\\\"<>".contains(c));
    is_plain && rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '['))
}

impl Page {
    fn is_within(&self, rule: &Self) -> bool {
        let is_host =
            self.host.strip_suffix(&rule.host).is_some_and(|sub| sub.is_empty() || sub.ends_with('.'));
        is_host && self.path.starts_with(&rule.path)
    }
}

/// Every page that an address can mean.
fn readings(address: &str) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut text: String = address.trim().chars().filter(|c| !c.is_control()).collect();
    for _ in 0..MAX_DECODINGS {
        pages.extend(page(&text));
        // Archives and proxies append the other address to their own, or put it into the query, with or without its scheme.
        let inner = text.match_indices(['/', '\\', '?', '&', '=', ':']).map(|(at, _)| &text[at + 1..]);
        pages.extend(inner.filter_map(page));
        let decoded = decoded(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    pages
}

/// Host and path as a browser reads them; `None` without a host.
fn page(address: &str) -> Option<Page> {
    let url = parsed(address)?;
    let segments = url.path_segments()?.filter(|segment| !segment.is_empty());
    let path = segments.map(|segment| decoded(segment).to_lowercase()).collect();
    Some(Page { host: host(&url)?.to_owned(), path })
}

/// Adds a missing scheme or slashes, which people and models often leave out.
fn parsed(address: &str) -> Option<Url> {
    let is_web = |scheme: &str| ["", "http", "https"].contains(&scheme.to_ascii_lowercase().as_str());
    let without_scheme = address.split_once(':').filter(|(scheme, _)| is_web(scheme)).map(|(_, rest)| rest);
    let rest = without_scheme.unwrap_or(address).trim_start_matches(['/', '\\']);
    Url::parse(&format!("https://{rest}")).ok()
}

/// The host in lower case and ASCII, without the dots of the root.
fn host(url: &Url) -> Option<&str> {
    url.host_str().map(|host| host.trim_matches('.')).filter(|host| !host.is_empty())
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_blocked_however_they_are_written() {
        let check = |rules: &[&str], url: &str, blocked: bool| {
            let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
            assert_eq!(is_blocked(url, &rules), blocked, "{url} by {rules:?}");
        };
        let page = ["kaggle.com/c/toy/code"];
        for url in [
            "https://www.kaggle.com/c/toy/code",
            "https://kaggle.com/c/toy/code/some/notebook?x=1#y",
            "HTTPS://WWW.Kaggle.COM/C/Toy/Code",
            "https://m.kaggle.com:443/c/toy/code",
            "https://kaggle.com.:8080/c/toy/code",
            "https://user:secret@kaggle.com/c/toy/code",
            "https://k%61ggle.com/c/t%6Fy/%63ode",
            "https://kaggle.com//c/./toy/x/../code",
            "https:\\\\kaggle.com\\c\\toy\\code",
            "kaggle.com/c/toy/code",
            " \thttps://kag\ngle.com/c/toy/code ",
            "https://ｋａｇｇｌｅ。com/c/toy/code",
            "https://web.archive.org/web/2020/https://www.kaggle.com/c/toy/code",
            "https://proxy.net/?u=https%3A%2F%2Fkaggle.com%2Fc%2Ftoy%2Fcode",
        ] {
            check(&page, url, true);
        }
        for url in [
            "https://www.kaggle.com/c/toy/codebook",
            "https://www.kaggle.com/c/toy/code/../data",
            "https://notkaggle.com/c/toy/code",
            "https://kaggle.com.net/c/toy/code",
            "https://kaggle.com@other.net/c/toy/code",
            "",
            "%%%",
        ] {
            check(&page, url, false);
        }
        check(&["kaggle.com"], "https://www.kaggle.com/anything", true);
        check(&["https://www.Kaggle.com/C/toy/code/?x#y"], "http://kaggle.com/c/toy/code", true);
        check(&["*.kaggle.com"], "http://kaggle.com/c", true);
        check(&["a.org", "b.org/x"], "https://b.org/y", false);
        check(&["", "/", "https://"], "https://a.org/", false);
    }

    #[test]
    fn a_competitions_solution_pages_are_known_by_its_id() {
        let pages = solution_pages(" Toy-1 ");
        assert!(pages.iter().all(|page| plain_rule(page).as_ref() == Some(page)));
        let check = |url: &str, blocked: bool| assert_eq!(is_blocked(url, &pages), blocked, "{url}");
        check("https://www.kaggle.com/competitions/toy-1/discussion/42", true);
        check("https://www.kaggle.com/competitions/toy-1/code?competitionId=1", true);
        check("https://www.kaggle.com/competitions/toy-1/writeups/first-place", true);
        check("https://www.kaggle.com/c/toy-1/kernels", true);
        check("https://www.kaggle.com/code/somebody/toy-1-first-place", true);
        check("https://web.archive.org/web/2020/kaggle.com/c/toy-1/code", true);
        check("https://www.kaggle.com/competitions/toy-1/overview", false);
        check("https://www.kaggle.com/competitions/toy-2/code", false);
        for id in ["", "two words", "a/b", "a.b", "é"] {
            assert!(solution_pages(id).is_empty(), "{id:?}");
        }
    }

    #[test]
    fn only_plain_web_addresses_become_links() {
        let check = |text: &str, holds: bool| assert_eq!(is_link(text), holds, "{text:?}");
        check("https://a.org/x?y=1&z#w", true);
        check("HTTP://a.org", true);
        for text in [
            "javascript:alert(1)",
            "java\nscript:alert(1)",
            "//a.org",
            "https://",
            "https://a.org/ x",
            "https://a.org/\"onclick=",
            "",
        ] {
            check(text, false);
        }
    }
}
