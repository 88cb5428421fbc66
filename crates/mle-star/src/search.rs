//! What the retriever may look up: addresses that are blocked, and addresses that may become links.
//!
//! [`is_blocked`] is asked before a page is read. A rule is a domain with or without a path
//! (`kaggle.com/competitions/titanic/code`); it covers the domain's subdomains and everything below the path.
//! [`solution_pages`] are the rules of a run that was given none. Where an address can be read in more than one
//! way, it is blocked when any of them is.

/// Where a competition's solutions are told, below its own page.
const TOLD_AT: [&str; 6] = ["code", "discussion", "discussions", "kernels", "notebooks", "writeups"];
/// The two addresses of a competition's page.
const COMPETITION_AT: [&str; 2] = ["competitions", "c"];
/// Where notebooks are, whose addresses do not say which competition they are for.
const NOTEBOOKS: &str = "kaggle.com/code";
/// How often an address is decoded at most; no server does it more often.
const DECODINGS: usize = 4;

/// A rule, or the page that an address names: lower-case host and path segments.
#[derive(Debug, PartialEq, Eq)]
struct Page {
    host: String,
    path: Vec<String>,
}

/// The pages on which others tell how they solved the competition: its discussion and code pages and all notebooks, as rules
/// for [`is_blocked`]. None for an id that cannot be a competition's short name.
pub fn solution_pages(competition_id: &str) -> Vec<String> {
    let id = competition_id.trim().to_ascii_lowercase();
    let is_name = id.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    if id.is_empty() || !is_name {
        return Vec::new();
    }
    let below =
        |at: &str| TOLD_AT.map(|told| format!("kaggle.com/{at}/{id}/{told}")).into_iter().collect::<Vec<_>>();
    let pages = COMPETITION_AT.into_iter().flat_map(below);
    pages.chain([NOTEBOOKS.to_owned()]).collect()
}

/// Does one of the rules in `blocked` cover `url`? Upper case, percent-encoding, ports, trailing dots, user
/// names, dot segments and backslashes make no difference, nor does an address inside another one, as archives
/// and proxies have it. A text that names no host is not blocked.
pub fn is_blocked(url: &str, blocked: &[String]) -> bool {
    let rules: Vec<Page> = blocked.iter().filter_map(|rule| page(&plain_rule(rule)?)).collect();
    !rules.is_empty() && readings(url).iter().any(|page| rules.iter().any(|rule| page.is_within(rule)))
}

/// A rule as search services want it, `domain` or `domain/path`: what a browser adds (scheme, `www.`, `*.`, port,
/// query) is left out. `None` for what can be no rule.
pub fn plain_rule(text: &str) -> Option<String> {
    let (authority, path) = authority_and_path(text.trim())?;
    let host = host(authority);
    let host = host.trim_start_matches("*.").trim_start_matches("www.");
    let is_host = host.contains('.') && host.chars().all(|c| c.is_alphanumeric() || "-._".contains(c));
    let path = path.trim_matches('/');
    is_host.then(|| if path.is_empty() { host.to_owned() } else { format!("{host}/{path}") })
}

/// Is this an address that a browser may be sent to? Plain `http` or `https` with a host, nothing hidden in it.
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

/// Every page that an address can be said to name.
fn readings(url: &str) -> Vec<Page> {
    let mut pages = Vec::new();
    let mut text: String = url.trim().chars().filter(|c| !c.is_control()).collect();
    for _ in 0..DECODINGS {
        pages.extend(page(&text));
        // An archive or a proxy has the other address behind its own, with or without its scheme.
        let inner = text.match_indices('/').map(|(at, _)| &text[at + 1..]);
        pages.extend(inner.filter_map(page));
        let decoded = percent_decoded(&text);
        if decoded == text {
            break;
        }
        text = decoded;
    }
    pages
}

/// Host and path as a browser would take them; `None` without a host.
fn page(address: &str) -> Option<Page> {
    let address = address.replace('\\', "/");
    let (authority, path) = authority_and_path(&address)?;
    let host = host(authority);
    (!host.is_empty()).then(|| Page { host, path: segments(path) })
}

fn authority_and_path(address: &str) -> Option<(&str, &str)> {
    let rest = without_scheme(address).trim_start_matches('/').split(['?', '#']).next()?;
    Some(rest.split_once('/').unwrap_or((rest, "")))
}

fn without_scheme(address: &str) -> &str {
    let Some((scheme, rest)) = address.split_once(':') else { return address };
    let is_scheme =
        scheme.is_empty() || ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    if is_scheme { rest } else { address }
}

/// Without user name, port and trailing dots, in lower case and plain letters.
fn host(authority: &str) -> String {
    let authority = percent_decoded(authority);
    let named = authority.rsplit('@').next().unwrap_or_default();
    let without_port = match named.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => host,
        _ => named,
    };
    let plain: String = without_port.chars().filter_map(plain_letter).collect();
    plain.trim_matches('.').to_lowercase()
}

/// What browsers make of letters in a host that only look like others: wide forms, other dots, invisible ones.
fn plain_letter(letter: char) -> Option<char> {
    match letter {
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => None,
        '\u{3002}' | '\u{ff0e}' | '\u{ff61}' => Some('.'),
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(letter) - 0xfee0),
        other => Some(other),
    }
}

/// The segments of a path in lower case, decoded; empty ones and dot segments resolved.
fn segments(path: &str) -> Vec<String> {
    let mut path = path.to_owned();
    for _ in 0..DECODINGS {
        path = percent_decoded(&path);
    }
    let mut segments: Vec<String> = Vec::new();
    for segment in path.replace('\\', "/").split(['/', '?', '#']) {
        match segment {
            "" | "." => {}
            ".." => drop(segments.pop()),
            name => segments.push(name.to_lowercase()),
        }
    }
    segments
}

/// `%41` becomes `A`; what is no code stays.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(value) => {
                decoded.push(value);
                at += 3;
            }
            None => {
                decoded.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
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
            "http://kaggle.com/c/toy/code/",
            "https://kaggle.com/c/toy/code/some/notebook?x=1#y",
            "https://kaggle.com/c/toy/code?sort=votes",
            "HTTPS://WWW.Kaggle.COM/C/Toy/Code",
            "https://m.kaggle.com:443/c/toy/code",
            "https://kaggle.com./c/toy/code",
            "https://kaggle.com.:8080/c/toy/code",
            "https://user:secret@kaggle.com/c/toy/code",
            "https://k%61ggle.com/c/t%6Fy/%63ode",
            "https://kaggle.com/c/toy/%2563ode",
            "https://kaggle.com/c%2Ftoy%2fcode",
            "https://kaggle.com//c/./toy/x/../code",
            "https://kaggle.com/c/toy/x/%2e%2e/code",
            "https:\\\\kaggle.com\\c\\toy\\code",
            "https:/kaggle.com/c/toy/code",
            "https:kaggle.com/c/toy/code",
            "//kaggle.com/c/toy/code",
            "kaggle.com/c/toy/code",
            " \thttps://kag\ngle.com/c/toy/code ",
            "https://ｋａｇｇｌｅ。com/c/toy/code",
            "https://kag\u{ad}gle.com/c/toy/code",
            "https://web.archive.org/web/2020/https://www.kaggle.com/c/toy/code",
            "view-source:https://kaggle.com/c/toy/code",
            "https://proxy.net/?u=https%3A%2F%2Fkaggle.com%2Fc%2Ftoy%2Fcode",
        ] {
            check(&page, url, true);
        }
        for url in [
            "https://www.kaggle.com/c/toy",
            "https://www.kaggle.com/c/toy/data",
            "https://www.kaggle.com/c/toy/codebook",
            "https://www.kaggle.com/c/toys/code",
            "https://www.kaggle.com/c/toy/code/../data",
            "https://notkaggle.com/c/toy/code",
            "https://kaggle.com.net/c/toy/code",
            "https://kaggle.com@other.net/c/toy/code",
            "https://other.net/kaggle.com/c/toy/coda",
            "https://other.net/?ref=kaggle",
            "",
            "https://",
            "%%%",
            "a\u{e9}%c3",
        ] {
            check(&page, url, false);
        }
        check(&["kaggle.com"], "https://www.kaggle.com/anything", true);
        check(&["kaggle.com"], "https://kaggle.com:443", true);
        check(&["https://www.Kaggle.com/C/toy/code/?x#y"], "http://kaggle.com/c/toy/code", true);
        check(&["*.kaggle.com"], "http://kaggle.com/c", true);
        check(&["a.org", "b.org/x"], "https://b.org/x/y", true);
        check(&["a.org", "b.org/x"], "https://b.org/y", false);
        check(&["", "/", "https://"], "https://a.org/", false);
        check(&[], "https://a.org/", false);
    }

    #[test]
    fn rules_are_a_domain_with_or_without_a_path() {
        let check =
            |text: &str, rule: Option<&str>| assert_eq!(plain_rule(text).as_deref(), rule, "{text:?}");
        check(" a.org ", Some("a.org"));
        check("https://www.A.org:443/User/x/?y#z", Some("a.org/User/x"));
        check("*.a.org", Some("a.org"));
        check("//m.a.org./x", Some("m.a.org/x"));
        for text in ["", "   ", "/x", "https://", "com", "two words.org", "a.org, b.org"] {
            check(text, None);
        }
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
            " javascript:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "//a.org",
            "a.org",
            "https://",
            "https:///a.org",
            "https://a.org/ x",
            "https://a.org/\"onclick=",
            "http",
            "",
        ] {
            check(text, false);
        }
    }
}
