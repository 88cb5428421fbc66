//! Live updates: each change is rendered once and sent to every viewer.
//!
//! A [`Live`] has the last rendered sections of a page. While it has followers, one task checks for changes; each
//! follower gets the sections that are newer than its own.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use tokio::sync::{Mutex, watch};

/// How often to check for changes.
const PAUSE: Duration = if cfg!(test) { Duration::from_millis(5) } else { Duration::from_secs(1) };
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

/// The sections of one page and their followers.
pub struct Live<S> {
    source: Arc<S>,
    latest: watch::Sender<Arc<Sections>>,
    /// The stamp of the last rendering; locked while rendering.
    rendered: Mutex<Option<String>>,
    is_watched: AtomicBool,
}

/// The number of renderings so far. Sections of the first rendering are not new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rendering {
    First,
    Later,
}

/// A section as sent to followers.
#[derive(Serialize)]
struct Sent<'a> {
    id: &'a str,
    html: &'a str,
    /// Whether it appeared after the follower's revision.
    is_new: bool,
}

impl<S: Source> Live<S> {
    /// Creates the page without rendering it.
    pub fn new(source: S) -> Self {
        let latest = watch::Sender::new(Arc::default());
        Self {
            source: Arc::new(source),
            latest,
            rendered: Mutex::default(),
            is_watched: AtomicBool::new(false),
        }
    }

    /// The current sections, rendered again only if something has changed.
    pub async fn now(&self) -> Arc<Sections> {
        let mut rendered = self.rendered.lock().await;
        let (source, known) = (Arc::clone(&self.source), rendered.clone());
        let work = move || {
            let stamp = source.stamp();
            (known.as_ref() != Some(&stamp)).then(|| (stamp, source.sections()))
        };
        // The panic was reported; the next check tries again.
        if let Ok(Some((stamp, sections))) = tokio::task::spawn_blocking(work).await {
            let look = if rendered.is_none() { Rendering::First } else { Rendering::Later };
            let next = self.latest.borrow().with(sections, look);
            if let Some(next) = next {
                self.latest.send_replace(Arc::new(next));
            }
            *rendered = Some(stamp);
        }
        drop(rendered);
        self.latest.borrow().clone()
    }

    /// The source of the sections.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// The number of followers.
    pub fn followers(&self) -> usize {
        self.latest.receiver_count()
    }

    /// Streams the sections that are newer than `since`, now and after every change.
    pub fn follow(
        self: &Arc<Self>,
        since: u64,
    ) -> Sse<impl Stream<Item = Result<Event, Infallible>> + use<S>> {
        let events = unfold(self.following(since), |mut at| async move {
            let (revision, data) = at.next().await?;
            Some((Ok(Event::default().id(revision.to_string()).data(data)), at))
        });
        Sse::new(events).keep_alive(KeepAlive::default())
    }

    fn following(self: &Arc<Self>, since: u64) -> Following {
        let receiver = self.latest.subscribe();
        self.watch();
        Following { receiver, since }
    }

    /// Checks for changes until there are no followers.
    fn watch(self: &Arc<Self>) {
        if self.is_watched.swap(true, Ordering::SeqCst) {
            return;
        }
        let live = Arc::clone(self);
        tokio::spawn(async move {
            loop {
                let began = Instant::now();
                live.now().await;
                tokio::time::sleep(PAUSE.max(began.elapsed() * SHARE)).await;
                if live.followers() > 0 {
                    continue;
                }
                live.is_watched.store(false, Ordering::SeqCst);
                // A follower may have joined in between.
                if live.followers() == 0 || live.is_watched.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
        });
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
    fn with(&self, sections: Vec<(String, String)>, look: Rendering) -> Option<Self> {
        let revision = next_revision();
        let mut next = Self { revision, by_id: self.by_id.clone() };
        let mut gone: Vec<String> = self.by_id.keys().cloned().collect();
        let mut changed = false;
        let came = match look {
            Rendering::First => 0,
            Rendering::Later => revision,
        };
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

    fn newer_than(&self, since: u64) -> Vec<Sent<'_>> {
        let newer = self.by_id.iter().filter(|(_, section)| section.revision > since);
        newer.map(|(id, Section { came, html, .. })| Sent { id, html, is_new: *came > since }).collect()
    }
}

/// The state of a follower.
#[derive(Debug, Default, Deserialize)]
pub struct Since {
    /// The revision that it has.
    #[serde(default)]
    pub since: u64,
}

/// The revisions that the follower has been sent.
struct Following {
    receiver: watch::Receiver<Arc<Sections>>,
    since: u64,
}

impl Following {
    /// The next revision with its new sections; `None` at the end.
    async fn next(&mut self) -> Option<(u64, String)> {
        loop {
            let sections = self.receiver.borrow_and_update().clone();
            let newer = sections.newer_than(self.since);
            if newer.is_empty() {
                self.receiver.changed().await.ok()?;
                continue;
            }
            self.since = sections.revision;
            return Some((self.since, serde_json::to_string(&newer).unwrap_or_default()));
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
    async fn sent(all: &mut [Following]) -> String {
        let mut said = Vec::new();
        for one in all {
            said.push(one.next().await.unwrap());
        }
        assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
        said[0].1.clone()
    }

    #[tokio::test]
    async fn ten_pages_cost_one_look() {
        let live = Arc::new(Live::new(Counter::default()));
        let mut all: Vec<Following> = (0..10).map(|_| live.following(0)).collect();
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
        let late = live.following(all[0].since - 1).next().await.unwrap().1;
        assert_eq!(late, r#"[{"id":"count","html":"5","is_new":false}]"#, "one who has the rest");
    }
}
