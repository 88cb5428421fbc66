//! Replays what is recorded, before anything new is paid: does this build ask what was asked?

use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;

use super::run;
use crate::backend::{AgentBackend, ScriptRunner};
use crate::ctx::Outside;
use crate::event::{EventSink, NoEvents};
use crate::journal::{Frozen, Journal, JournalError};
use crate::prompts::Prompts;
use crate::slots::Slots;
use crate::stop::Stop;
use mle_star_domain::effects::{AgentReply, AgentRequest, ScriptOutcome, ScriptRequest};
use mle_star_domain::place::Place;
use mle_star_domain::question::{Answer, Question};

/// The number of times that a run is polled without progress before nothing more is expected.
const PATIENCE: usize = 100;

/// Enough that no effect waits for another.
const SLOTS: usize = 1000;

/// Replays `copy`, a copy of the run's journal, up to the first new effect of each path, and performs none.
///
/// # Errors
/// A recorded input or verdict is not what this build asks or decides, or the copy cannot be read or written.
pub async fn check_recorded(frozen: &Frozen, prompts: &Prompts, copy: &Journal) -> Result<(), JournalError> {
    let (_sender, cancel) = tokio::sync::watch::channel(false);
    let scripts = frozen.config.max_concurrent_scripts.map_or(SLOTS, |most| most as usize);
    let (script_slots, agent_slots) = (&Slots::new(scripts), &Slots::new(SLOTS));
    let outside = Outside {
        agents: &Nobody,
        scripts: &Nobody,
        events: &NoEvents,
        cancel: &cancel,
        environment: "",
        script_slots,
        agent_slots,
    };
    let mut replay = Box::pin(run(frozen, prompts, copy, outside));
    let (mut idle, mut used) = (0, 0);
    while idle < PATIENCE {
        let polled = futures_util::poll!(replay.as_mut());
        if let Poll::Ready(ended) = polled {
            return match ended {
                Err(Stop::Journal(error)) => Err(error),
                // What else ends the run is not about what is recorded.
                _ => Ok(()),
            };
        }
        tokio::task::yield_now().await;
        let now = copy.used();
        idle = if now == used { idle + 1 } else { 0 };
        used = now;
    }
    Ok(())
}

/// Answers nothing and runs nothing.
struct Nobody;

#[async_trait]
impl AgentBackend for Nobody {
    async fn ask(&self, _request: &AgentRequest, _events: &dyn EventSink) -> Result<AgentReply, Stop> {
        std::future::pending().await
    }
}

#[async_trait]
impl ScriptRunner for Nobody {
    async fn run(&self, _request: &ScriptRequest) -> Result<ScriptOutcome, Stop> {
        std::future::pending().await
    }

    async fn answer(&self, _: &Place, _: &Question, _: Duration) -> Result<Answer, Stop> {
        std::future::pending().await
    }
}
