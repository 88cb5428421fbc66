//! Searching the web with a command of the user.
//!
//! The query takes the place of `{query}` in the arguments, or goes to standard input if no argument has that. The
//! command prints JSON: a list of results with `title`, `url` and `snippet`, or one of the forms that search services
//! use.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use mle_star_domain::search::is_blocked;
use mle_star_process::{ProcessTree, Streams};
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use tokio::time::timeout;

/// What stands for the query in an argument.
const QUERY: &str = "{query}";
/// Limits of one search.
const MAX_TIMEOUT: Duration = Duration::from_secs(60);
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// How many results of a search are used.
const MAX_RESULTS: usize = 8;
/// The longest text of a result, in characters.
const MAX_SNIPPET_CHARS: usize = 600;

/// One page that was found.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct SearchResult {
    #[serde(default)]
    pub(crate) title: String,
    #[serde(alias = "link", alias = "href")]
    pub(crate) url: String,
    #[serde(default, alias = "content", alias = "description", alias = "body")]
    pub(crate) snippet: String,
}

/// Searches with the command; results from `blocked` pages are left out. `hidden` is a variable that the command does not
/// see.
///
/// # Errors
/// The reason why there are no results.
pub(crate) async fn search(
    command: &[String],
    hidden: &str,
    blocked: &[String],
    query: &str,
) -> Result<Vec<SearchResult>, String> {
    let printed = match timeout(MAX_TIMEOUT, run(command, hidden, query)).await {
        Ok(printed) => printed?,
        Err(_) => return Err(format!("the search command did not end within {} s", MAX_TIMEOUT.as_secs())),
    };
    let value: Value = serde_json::from_slice(&printed)
        .map_err(|error| format!("the search command printed no JSON: {error}"))?;
    let mut found = results(&value)?;
    found.retain(|page| !is_blocked(&page.url, blocked));
    found.truncate(MAX_RESULTS);
    Ok(found)
}

/// The pages as a part of a prompt.
pub(crate) fn in_words(query: &str, found: &Result<Vec<SearchResult>, String>) -> String {
    let line = |text: &str, most: usize| -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(most).collect()
    };
    let pages: Vec<String> = match found {
        Ok(pages) if pages.is_empty() => vec!["Nothing was found.".to_owned()],
        Ok(pages) => pages
            .iter()
            .map(|page| {
                let (title, url) = (line(&page.title, 200), line(&page.url, 500));
                format!("- {title}\n  {url}\n  {}", line(&page.snippet, MAX_SNIPPET_CHARS))
            })
            .collect(),
        Err(_) => vec!["This search failed.".to_owned()],
    };
    format!("## {}\n\n{}\n", line(query, 200), pages.join("\n"))
}

async fn run(command: &[String], hidden: &str, query: &str) -> Result<Vec<u8>, String> {
    let Some((program, arguments)) = command.split_first() else {
        return Err("there is no search command".to_owned());
    };
    let takes_argument = command.iter().any(|argument| argument.contains(QUERY));
    let mut child = Command::new(program);
    child.args(arguments.iter().map(|argument| argument.replace(QUERY, query))).env_remove(hidden);
    let cannot = |error: io::Error| format!("the search command {program} does not run: {error}");
    // Dropping the tree ends everything that the command started.
    let (mut tree, Streams { stdin, stdout, stderr }) =
        ProcessTree::spawn(child, Stdio::piped()).map_err(cannot)?;
    let told = async {
        if let Some(mut stdin) = stdin.filter(|_| !takes_argument) {
            // A command that does not read the query ends or prints without it.
            let _ = stdin.write_all(query.as_bytes()).await;
        }
    };
    let ((), printed, said) = tokio::join!(told, all(stdout), all(stderr));
    let ending = tree.ended().await.map_err(cannot)?;
    let printed = printed.map_err(cannot)?;
    if printed.len() as u64 > MAX_BYTES {
        return Err(format!("the search command printed more than {} MiB", MAX_BYTES / 1024 / 1024));
    }
    if ending.status.is_some_and(|status| status.success()) {
        return Ok(printed);
    }
    let said = said.unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no error message").trim();
    let how = ending.status.map_or_else(|| "was killed".to_owned(), |status| format!("failed ({status})"));
    Err(format!("the search command {how}: {last}"))
}

async fn all(stream: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more shows that it is too much.
    stream.take(MAX_BYTES + 1).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

/// The results in a document: a list, or one below `results` or `web.results`.
fn results(value: &Value) -> Result<Vec<SearchResult>, String> {
    let lists = [value, &value["results"], &value["web"]["results"]];
    let list = lists.into_iter().find_map(Value::as_array);
    let list = list.ok_or("the search command printed no list of results")?;
    Ok(list.iter().filter_map(|item| serde_json::from_value(item.clone()).ok()).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn said(command: &[&str], query: &str) -> Result<Vec<SearchResult>, String> {
        let command: Vec<String> = command.iter().map(|part| (*part).to_owned()).collect();
        search(&command, "HIDDEN", &["blocked.org".to_owned()], query).await
    }

    fn found(title: &str, url: &str, snippet: &str) -> SearchResult {
        SearchResult { title: title.to_owned(), url: url.to_owned(), snippet: snippet.to_owned() }
    }

    #[test]
    fn the_forms_of_search_services_are_understood() {
        let expected = vec![found("t", "https://a.org", "s")];
        let check = |value: Value| assert_eq!(results(&value), Ok(expected.clone()), "{value}");
        check(json!([{"title": "t", "url": "https://a.org", "snippet": "s"}, {"title": "no address"}]));
        check(json!({"query": "q", "results": [{"title": "t", "url": "https://a.org", "content": "s"}]}));
        check(json!({"web": {"results": [{"title": "t", "url": "https://a.org", "description": "s"}]}}));
        check(json!([{"title": "t", "link": "https://a.org", "body": "s"}]));
        assert!(results(&json!({"error": "no"})).unwrap_err().contains("no list"));
        assert_eq!(results(&json!([])), Ok(Vec::new()));
    }

    #[tokio::test]
    async fn the_query_is_an_argument_or_the_input() {
        let prints =
            r#"printf '[{"title":"%s","url":"https://a.org/1"},{"url":"https://www.blocked.org/2"}]' "$1""#;
        let query = "models \"for\" $(this) {x}";
        let by_argument =
            said(&["sh", "-c", &format!("{prints} | tr '\"' '\"'"), "sh", "plain {query}"], "text").await;
        assert_eq!(by_argument, Ok(vec![found("plain text", "https://a.org/1", "")]));
        let reads = r#"printf '{"results":[{"title":"%s","url":"https://a.org"}]}' "$(tr -d '"')""#;
        let by_input = said(&["sh", "-c", reads], query).await;
        assert_eq!(by_input, Ok(vec![found("models for $(this) {x}", "https://a.org", "")]));
    }

    #[test]
    fn results_are_one_line_each_in_the_prompt() {
        let pages = Ok(vec![found("a\n# title", "https://a.org", "many\n\nlines")]);
        assert_eq!(
            in_words("my query", &pages),
            "## my query\n\n- a # title\n  https://a.org\n  many lines\n"
        );
        assert!(in_words("q", &Ok(Vec::new())).contains("Nothing was found."));
        assert!(in_words("q", &Err("secret reason".to_owned())).contains("This search failed."));
    }
}
