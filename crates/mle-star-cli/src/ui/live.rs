//! Live updates: each change is rendered once and sent to every viewer.
//!
//! A [`Live`] has the last rendered sections of a page. Its followers check for changes by turns; each gets the sections
//! that are newer than its own.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

/// How often to check for changes.
const POLL_INTERVAL: Duration = if cfg!(test) { Duration::from_millis(5) } else { Duration::from_secs(1) };
/// Checks use at most this fraction of a core's time, as its reciprocal.
const SHARE: u32 = 10;

/// A source of sections.
pub trait Source: Send + Sync + 'static {
    /// Changes whenever the sections may change. This must be cheap.
    fn stamp(&self) -> String;
    /// All sections by ID, as HTML.
    fn sections(&self) -> Vec<(String, String)>;
}

/// Sections at one moment.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// Grows with every change, even across restarts of the program.
    pub revision: u64,
    by_id: BTreeMap<String, Section>,
}

#[derive(Clone, Debug)]
struct Section {
    /// The revision in which it appeared; 0 for sections of the first rendering.
    came: u64,
    /// The revision in which it last changed.
    revision: u64,
    /// The HTML; empty if it was removed.
    html: Arc<str>,
}

/// The sections of one page.
pub struct Live<S> {
    source: Arc<S>,
    /// Locked while rendering.
    rendered: Mutex<Rendered>,
}

/// The last rendering.
#[derive(Default)]
struct Rendered {
    /// The stamp of the source; `None` before the first rendering.
    stamp: Option<String>,
    sections: Arc<Sections>,
    /// When followers check for changes again.
    next_check: Option<Instant>,
}

/// A section as sent to followers.
#[derive(Serialize)]
struct SectionUpdate<'a> {
    id: &'a str,
    html: &'a str,
    /// Whether it appeared after the follower's revision.
    is_new: bool,
}

impl<S: Source> Live<S> {
    /// Creates the page without rendering it.
    pub fn new(source: S) -> Self {
        Self { source: Arc::new(source), rendered: Mutex::default() }
    }

    /// The current sections, rendered again only if something has changed.
    pub async fn now(&self) -> Arc<Sections> {
        self.checked(&mut *self.rendered.lock().await).await
    }

    /// The sections as another follower may have found them a moment ago.
    async fn recent(&self) -> Arc<Sections> {
        let mut rendered = self.rendered.lock().await;
        let began = Instant::now();
        if rendered.next_check.is_some_and(|next| began < next) {
            return Arc::clone(&rendered.sections);
        }
        let sections = self.checked(&mut rendered).await;
        rendered.next_check = Some(Instant::now() + POLL_INTERVAL.max(began.elapsed() * SHARE));
        sections
    }

    async fn checked(&self, rendered: &mut Rendered) -> Arc<Sections> {
        let (source, known) = (Arc::clone(&self.source), rendered.stamp.clone());
        let work = move || {
            let stamp = source.stamp();
            (known.as_ref() != Some(&stamp)).then(|| (stamp, source.sections()))
        };
        // The panic was reported; the next check tries again.
        if let Ok(Some((stamp, sections))) = tokio::task::spawn_blocking(work).await {
            let is_first = rendered.stamp.replace(stamp).is_none();
            if let Some(next) = rendered.sections.with(sections, is_first) {
                rendered.sections = Arc::new(next);
            }
        }
        Arc::clone(&rendered.sections)
    }

    /// The source of the sections.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Streams the sections that are newer than `since`, now and after every change.
    pub fn follow(
        self: &Arc<Self>,
        since: u64,
    ) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<S>> {
        let follower = Follower { live: Arc::clone(self), since };
        let events = unfold(follower, |mut at| async move {
            let (revision, data) = at.next().await;
            Some((Ok(Event::default().id(revision.to_string()).data(data)), at))
        });
        Sse::new(events).keep_alive(KeepAlive::default())
    }
}

/// The revision that a follower has: the last event it received, or the one its page was made from.
pub fn since(headers: &HeaderMap, of_page: u64) -> u64 {
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    last.unwrap_or(of_page)
}

impl Sections {
    /// The HTML of a section; empty if there is none.
    pub fn html(&self, id: &str) -> &str {
        self.by_id.get(id).map_or("", |section| &*section.html)
    }

    /// The state with these sections; `None` if nothing changed.
    /// Sections of the first rendering are not new.
    fn with(&self, sections: Vec<(String, String)>, is_first: bool) -> Option<Self> {
        let revision = next_revision();
        let mut next = Self { revision, by_id: self.by_id.clone() };
        let mut gone: Vec<String> = self.by_id.keys().cloned().collect();
        let mut changed = false;
        let came = if is_first { 0 } else { revision };
        for (id, html) in sections {
            gone.retain(|known| *known != id);
            changed |= next.put(id, html, came);
        }
        for id in gone {
            changed |= next.put(id, String::new(), came);
        }
        changed.then_some(next)
    }

    fn put(&mut self, id: String, html: String, came: u64) -> bool {
        let known = self.by_id.get(&id);
        if known.is_some_and(|known| *known.html == *html) {
            return false;
        }
        let came = known.filter(|known| !known.html.is_empty()).map_or(came, |known| known.came);
        self.by_id.insert(id, Section { came, revision: self.revision, html: html.into() });
        true
    }

    fn newer_than(&self, since: u64) -> Vec<SectionUpdate<'_>> {
        let newer = self.by_id.iter().filter(|(_, section)| section.revision > since);
        newer
            .map(|(id, Section { came, html, .. })| SectionUpdate { id, html, is_new: *came > since })
            .collect()
    }
}

/// The state of a follower.
#[derive(Debug, Default, Deserialize)]
pub struct Since {
    /// The revision that it has.
    #[serde(default)]
    pub since: u64,
}

/// A follower, with the revision that it has been sent.
struct Follower<S> {
    live: Arc<Live<S>>,
    since: u64,
}

impl<S: Source> Follower<S> {
    /// The next revision with its new sections.
    async fn next(&mut self) -> (u64, String) {
        loop {
            let sections = self.live.recent().await;
            let newer = sections.newer_than(self.since);
            if !newer.is_empty() {
                self.since = sections.revision;
                return (self.since, serde_json::to_string(&newer).unwrap_or_default());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}

/// A revision larger than all earlier ones, including those of an earlier server whose pages are still open.
fn next_revision() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
    LAST.fetch_max(now, Ordering::SeqCst);
    LAST.fetch_add(1, Ordering::SeqCst) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source with a shown number, a hidden one, and a count of renderings.
    #[derive(Default)]
    struct Counter {
        shown: AtomicU64,
        rendered: AtomicU64,
    }

    impl Source for Counter {
        fn stamp(&self) -> String {
            self.shown.load(Ordering::SeqCst).to_string()
        }

        fn sections(&self) -> Vec<(String, String)> {
            self.rendered.fetch_add(1, Ordering::SeqCst);
            vec![("always".to_owned(), "the same".to_owned()), ("count".to_owned(), self.stamp())]
        }
    }

    /// The next update, which is the same for all followers.
    async fn sent(all: &mut [Follower<Counter>]) -> String {
        let mut said = Vec::new();
        for one in all {
            said.push(one.next().await);
        }
        assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
        said[0].1.clone()
    }

    #[tokio::test]
    async fn ten_pages_cost_one_look() {
        let live = Arc::new(Live::new(Counter::default()));
        let follower = |since| Follower { live: Arc::clone(&live), since };
        let mut all: Vec<_> = (0..10).map(|_| follower(0)).collect();
        let first = sent(&mut all).await;
        assert!(first.contains("the same"), "{first}");
        for change in 1..=5 {
            live.source().shown.store(change, Ordering::SeqCst);
            assert_eq!(
                sent(&mut all).await,
                format!(r#"[{{"id":"count","html":"{change}","is_new":false}}]"#)
            );
        }
        assert_eq!(live.source().rendered.load(Ordering::SeqCst), 6);
        let late = follower(all[0].since - 1).next().await.1;
        assert_eq!(late, r#"[{"id":"count","html":"5","is_new":false}]"#, "one who has the rest");
    }
}
