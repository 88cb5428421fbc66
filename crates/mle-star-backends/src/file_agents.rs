//! Agents whose calls are answered by a person or another program through files.
//!
//! [`FileAgents`] implements [`AgentBackend`] with one folder per call, `NNN-PLACE/`. A call is open while its folder
//! has a file `ready`; the answer is `reply.txt`, which has to be moved into place. `docs/agents-from-files.md`
//! describes all files.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::{Timestamp, Unit};
use mle_star::backend::AgentBackend;
use mle_star::event::EventSink;
use mle_star::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest, Usage};
use mle_star_domain::role::{AgentType, Variant};
use mle_star_domain::trouble::Trouble;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

/// The file that ends an open call: the answer.
const REPLY: &str = "reply.txt";
/// The empty file of an open call. It is renamed once the call is answered, or once nobody waits for it any more.
const READY: &str = "ready";
const ANSWERED: &str = "answered";
const WITHDRAWN: &str = "withdrawn";
/// The files with the question.
const SYSTEM: &str = "system.md";
const PROMPT: &str = "prompt.md";
const SCHEMA: &str = "schema.json";
const CALL: &str = "call.json";

/// The first pause between two looks for an answer. Each is 1.5 times the one before, up to [`MAX_POLL_INTERVAL`].
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(100);
const MAX_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Agents of one run that are asked through files.
#[derive(Debug)]
pub struct FileAgents {
    folder: PathBuf,
    run_id: String,
    data_dir: PathBuf,
    /// Held while a call is opened, so that calls are numbered in their order.
    opening: Mutex<()>,
}

/// The content of `call.json`.
#[derive(Serialize)]
struct Call<'a> {
    run: &'a str,
    /// A digest, as in [`Owner`].
    question: String,
    place: &'a str,
    agent: AgentType,
    variant: Option<Variant>,
    model: &'a str,
    tools: &'a [&'a str],
    data_dir: &'a Path,
    /// When the run stops waiting.
    deadline: Timestamp,
}

/// The part of `call.json` that says whose call it is.
#[derive(Deserialize)]
struct Owner {
    run: String,
    /// A digest of the place and the values that the prompt is made from.
    #[serde(default)]
    question: String,
}

/// A call that waits for its answer. Dropping it withdraws the call, unless it is answered.
struct Open {
    folder: PathBuf,
}

impl FileAgents {
    /// Agents that put their calls into `folder`, which is created. Calls that an earlier process of the run left open
    /// are withdrawn until they are asked again. `data_dir` is the data as scripts see it.
    ///
    /// # Errors
    /// The folder cannot be read or written.
    pub fn new(folder: &Path, run_id: &str, data_dir: &Path) -> Result<Self, Trouble> {
        check_folder(folder)?;
        let agents = Self {
            folder: folder.to_owned(),
            run_id: run_id.to_owned(),
            data_dir: data_dir.to_owned(),
            opening: Mutex::default(),
        };
        let calls = agents.calls().map_err(|error| unwritable(folder, &error))?;
        calls.into_iter().filter(|(_, _, call)| agents.owns(call)).for_each(|(_, _, call)| withdraw(&call));
        Ok(agents)
    }

    /// Opens the folder of a call: that of an earlier process which asked the same, or a new one.
    fn open(&self, request: &AgentRequest) -> io::Result<Open> {
        let _turn = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = match self.asked_before(request)? {
            Some(folder) => folder,
            None => self.new_folder(&request.place.file_stem())?,
        };
        self.write(&folder, request)?;
        Ok(Open { folder })
    }

    /// The folder of the same call, if it was asked before and not answered. Its prompt may differ: prompts tell how much time is
    /// left.
    fn asked_before(&self, request: &AgentRequest) -> io::Result<Option<PathBuf>> {
        let stem = request.place.file_stem();
        // Earlier versions made the digest without the place.
        let asked = [question(request), digest(&prompt_values(request))];
        let is_same = |folder: &PathBuf| {
            let owner = owner(folder).filter(|owner| owner.run == self.run_id);
            owner.is_some_and(|owner| asked.contains(&owner.question)) && !folder.join(ANSWERED).exists()
        };
        let of_place = self.calls()?.into_iter().filter(|(_, name, _)| *name == stem);
        Ok(of_place.map(|(_, _, folder)| folder).rfind(is_same))
    }

    fn new_folder(&self, stem: &str) -> io::Result<PathBuf> {
        let mut number = self.calls()?.last().map_or(1, |(number, _, _)| number + 1);
        loop {
            let folder = self.folder.join(format!("{number:03}-{stem}"));
            match fs::create_dir(&folder) {
                // Another run that shares the folder was faster.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                created => return created.map(|()| folder),
            }
        }
    }

    /// Writes the question. `ready` comes last.
    fn write(&self, folder: &Path, request: &AgentRequest) -> io::Result<()> {
        put(folder, CALL, &json(&self.call(request))?)?;
        put(folder, SYSTEM, request.system.as_bytes())?;
        if let Some(schema) = &request.schema {
            put(folder, SCHEMA, &json(schema.as_ref())?)?;
        }
        put(folder, PROMPT, request.prompt.as_bytes())?;
        match fs::remove_file(folder.join(WITHDRAWN)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => put(folder, READY, b""),
        }
    }

    fn call<'a>(&'a self, request: &'a AgentRequest) -> Call<'a> {
        let now = Timestamp::now();
        let deadline = now.checked_add(request.time_left).and_then(|deadline| deadline.round(Unit::Second));
        Call {
            run: &self.run_id,
            question: question(request),
            place: request.place.as_str(),
            agent: request.agent,
            variant: request.variant,
            model: &request.model,
            tools: request.tools,
            data_dir: &self.data_dir,
            deadline: deadline.unwrap_or(Timestamp::MAX),
        }
    }

    /// Numbers, places and folders of all calls, in their order.
    fn calls(&self) -> io::Result<Vec<(u64, String, PathBuf)>> {
        let mut calls = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let parts = name.split_once('-').and_then(|(number, stem)| Some((number.parse().ok()?, stem)));
            calls.extend(parts.map(|(number, stem)| (number, stem.to_owned(), path)));
        }
        calls.sort();
        Ok(calls)
    }

    /// Whether the call is one of this run: several runs may share the folder.
    fn owns(&self, call: &Path) -> bool {
        owner(call).is_some_and(|owner| owner.run == self.run_id)
    }
}

fn owner(call: &Path) -> Option<Owner> {
    serde_json::from_slice(&fs::read(call.join(CALL)).ok()?).ok()
}

/// A digest of what makes a call the same in another process: its prompt also has times and the progress of other paths.
/// Two paths can ask with the same values and be told different things, so the place is part of it.
fn question(request: &AgentRequest) -> String {
    let mut asked = prompt_values(request);
    asked["place"] = request.place.as_str().into();
    digest(&asked)
}

/// The agent, and the values that its prompt is made from.
fn prompt_values(AgentRequest { agent, variant, inputs, .. }: &AgentRequest) -> serde_json::Value {
    serde_json::json!({"agent": agent, "variant": variant, "inputs": inputs})
}

fn digest(asked: &serde_json::Value) -> String {
    blake3::hash(asked.to_string().as_bytes()).to_hex().to_string()
}

#[async_trait]
impl AgentBackend for FileAgents {
    /// Waits as long as the run has time: [`AgentRequest::timeout`] does not apply, because people are slow.
    async fn ask(&self, request: &AgentRequest, _events: &dyn EventSink) -> Result<AgentReply, Stop> {
        let deadline = Instant::now() + request.time_left;
        let call = self.open(request).map_err(|error| unwritable(&self.folder, &error))?;
        let mut pause = MIN_POLL_INTERVAL;
        loop {
            if let Some(reply) = call.reply() {
                return Ok(reply.map_or_else(failed_reply, AgentReply::text));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(failed_reply(format!("nobody answered within {} s", request.time_left.as_secs())));
            }
            sleep(pause.min(left)).await;
            pause = pause.mul_f64(1.5).min(MAX_POLL_INTERVAL);
        }
    }
}

impl Open {
    /// The answer, or why it cannot be used; `None` until there is one.
    fn reply(&self) -> Option<Result<String, String>> {
        let reply = match fs::read(self.folder.join(REPLY)) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let is_gone = !self.folder.exists();
                return is_gone.then(|| Err(format!("the folder {} was removed", self.folder.display())));
            }
            Err(error) => Err(format!("{REPLY} cannot be read: {error}")),
            Ok(bytes) => String::from_utf8(bytes).map_err(|_| format!("{REPLY} is not UTF-8 text")),
        };
        // Should this fail, only the answerer misses something.
        let _ = fs::rename(self.folder.join(READY), self.folder.join(ANSWERED));
        Some(reply.and_then(|text| match text.trim() {
            "" => Err(format!("{REPLY} is empty")),
            _ => Ok(text),
        }))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        withdraw(&self.folder);
    }
}

/// Creates a folder for calls, and checks that it can be written.
///
/// # Errors
/// It cannot be created or written.
pub fn check_folder(folder: &Path) -> Result<(), Trouble> {
    let made = fs::create_dir_all(folder).and_then(|()| tempfile::tempfile_in(folder));
    made.map(drop).map_err(|error| unwritable(folder, &error))
}

fn unwritable(folder: &Path, error: &io::Error) -> Trouble {
    let message = format!("cannot write to the agents' folder {}: {error}", folder.display());
    Trouble::resumable(message, "make it writable, or choose another folder with agents_dir")
}

fn failed_reply(reason: String) -> AgentReply {
    AgentReply::failed(reason, Usage::free())
}

/// Marks an open call: nobody waits for its answer now.
fn withdraw(call: &Path) {
    // A call that is not open has no such file.
    let _ = fs::rename(call.join(READY), call.join(WITHDRAWN));
}

/// Writes a file that appears with its whole content.
fn put(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    let partial = folder.join(format!(".{name}.part"));
    fs::write(&partial, content)?;
    fs::rename(partial, folder.join(name))
}

fn json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mle_star::event::NoEvents;
    use mle_star_domain::effects::Answer;
    use mle_star_domain::place::Place;
    use serde_json::{Map, Value, json};

    use super::*;

    fn question(place: &str, prompt: &str) -> AgentRequest {
        AgentRequest {
            place: Place::from(place),
            agent: AgentType::Leakage,
            variant: Some(Variant::Detection),
            system: "You are careful.".to_owned(),
            prompt: prompt.to_owned(),
            shared: Vec::new(),
            // The prompt of an equal question may tell another time.
            inputs: Map::from_iter([("asks".to_owned(), json!(prompt.split(", ").next()))]),
            told: Map::new(),
            tools: &["Read"],
            schema: Some(Arc::new(json!({"type": "object"}))),
            model: "sonnet".to_owned(),
            timeout: Duration::from_secs(1),
            time_left: Duration::from_secs(3600),
            max_usd: None,
        }
    }

    fn agents(folder: &Path) -> FileAgents {
        FileAgents::new(folder, "r", Path::new("/data")).unwrap()
    }

    #[test]
    fn calls_at_different_places_are_different_questions() {
        let asked = |place| super::question(&question(place, "?"));
        assert_ne!(asked("phase2/path-0/t0/ablation"), asked("phase2/path-1/t0/ablation"));
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Answers as people do: writes a file and moves it into place.
    fn answer(call: &Path, text: &[u8]) {
        fs::write(call.join("draft"), text).unwrap();
        fs::rename(call.join("draft"), call.join(REPLY)).unwrap();
    }

    /// Asks, and calls `then` once the call is open.
    async fn asked(agents: &FileAgents, request: &AgentRequest, then: impl FnOnce()) -> AgentReply {
        let mut asked = agents.ask(request, &NoEvents);
        tokio::select! {
            biased;
            reply = &mut asked => return reply.unwrap(),
            () = std::future::ready(()) => then(),
        }
        asked.await.unwrap()
    }

    /// Asks, and stops waiting once the call is open.
    async fn interrupted(agents: &FileAgents, request: &AgentRequest) {
        tokio::select! {
            biased;
            reply = agents.ask(request, &NoEvents) => panic!("{reply:?}"),
            () = std::future::ready(()) => {}
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_is_a_folder_that_holds_the_question_and_takes_the_answer() {
        let dir = tempfile::tempdir().unwrap();
        let (agents, call) = (agents(dir.path()), dir.path().join("001-phase1.candidate-0.leakage"));
        let request = question("phase1/candidate-0/leakage", "Does it leak?\n");
        let reply = asked(&agents, &request, || {
            assert_eq!(names(&call), [CALL, PROMPT, READY, SCHEMA, SYSTEM]);
            let read = |name: &str| fs::read_to_string(call.join(name)).unwrap();
            let whole = (read(PROMPT), read(SYSTEM), read(READY));
            assert_eq!(whole, ("Does it leak?\n".to_owned(), "You are careful.".to_owned(), String::new()));
            let mut asked: Value = serde_json::from_str(&read(CALL)).unwrap();
            let deadline: Timestamp =
                asked["deadline"].take().as_str().and_then(|at| at.parse().ok()).unwrap();
            let seconds = deadline.duration_since(Timestamp::now()).as_secs();
            assert!((3590..=3600).contains(&seconds), "{seconds}");
            assert_eq!(asked["question"].take().as_str().map(str::len), Some(64));
            let expected = json!({
                "run": "r", "question": null, "place": "phase1/candidate-0/leakage", "agent": "leakage", "variant": "detection",
                "model": "sonnet", "tools": ["Read"], "data_dir": "/data", "deadline": null,
            });
            assert_eq!(asked, expected);
            assert_eq!(serde_json::from_str::<Value>(&read(SCHEMA)).unwrap(), json!({"type": "object"}));
            answer(&call, b"{\"answers\": []}\n");
        })
        .await;
        assert_eq!(reply, AgentReply::text("{\"answers\": []}\n"));
        assert_eq!(names(&call), [ANSWERED, CALL, PROMPT, REPLY, SCHEMA, SYSTEM]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_no_answer_fails_the_call_with_the_reason() {
        let check = async |act: fn(&Path), reason: &str, left: &str| {
            let dir = tempfile::tempdir().unwrap();
            let call = dir.path().join("001-p");
            let reply = asked(&agents(dir.path()), &question("p", "?"), || act(&call)).await;
            let Answer::Failed { reason: said } = &reply.answer else { panic!("{reply:?}") };
            assert!(said.contains(reason), "{said} / {reason}");
            assert_eq!(reply.usage, Usage::free());
            assert!(left.is_empty() || call.join(left).exists(), "{left}: {:?}", names(&call));
        };
        check(|call| answer(call, b""), "reply.txt is empty", ANSWERED).await;
        check(|call| answer(call, b" \n"), "reply.txt is empty", ANSWERED).await;
        check(|call| answer(call, b"caf\xe9"), "reply.txt is not UTF-8", ANSWERED).await;
        check(|call| fs::create_dir(call.join(REPLY)).unwrap(), "reply.txt cannot be read", ANSWERED).await;
        check(|call| fs::remove_dir_all(call).unwrap(), "was removed", "").await;
        check(|_| (), "nobody answered within 3600 s", WITHDRAWN).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_without_an_answer_is_withdrawn_and_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let (request, call) = (question("p", "?"), dir.path().join("001-p"));
        interrupted(&agents(dir.path()), &request).await;
        assert!(call.join(WITHDRAWN).exists() && !call.join(READY).exists());
        let resumed = agents(dir.path());
        let reply = asked(&resumed, &request, || {
            assert!(call.join(READY).exists() && !call.join(WITHDRAWN).exists());
            answer(&call, b"yes");
        })
        .await;
        assert_eq!(reply, AgentReply::text("yes"));
        assert_eq!(names(dir.path()), ["001-p"]);
        // Asked once more, an answer that was used is not used again.
        interrupted(&agents(dir.path()), &request).await;
        assert_eq!(names(dir.path()), ["001-p", "002-p"]);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_came_meanwhile_is_used() {
        let dir = tempfile::tempdir().unwrap();
        let (request, call) = (question("p", "?, with 10 s left"), dir.path().join("001-p"));
        // A killed process leaves the call open.
        std::mem::forget(agents(dir.path()).open(&request).unwrap());
        assert!(call.join(READY).exists());
        answer(&call, b"meanwhile");
        let resumed = agents(dir.path());
        assert!(call.join(WITHDRAWN).exists(), "not asked yet");
        let request = question("p", "?, with 9 s left");
        let reply = asked(&resumed, &request, || panic!("waited for an answer")).await;
        assert_eq!((reply, names(dir.path()).len()), (AgentReply::text("meanwhile"), 1));
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_same_call_of_the_same_run_is_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        interrupted(&agents(dir.path()), &question("p", "?")).await;
        interrupted(&agents(dir.path()), &question("p", "Which?")).await;
        let other = FileAgents::new(dir.path(), "other", Path::new("/data")).unwrap();
        // A run that shares the folder leaves the calls of the other one open.
        let waiting = other.open(&question("p", "?")).unwrap();
        interrupted(&agents(dir.path()), &question("p", "Which?")).await;
        assert!(waiting.folder.join(READY).exists());
        assert_eq!(names(dir.path()), ["001-p", "002-p", "003-p"]);
    }
}
