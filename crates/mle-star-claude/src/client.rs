//! What the calls of a run share: settings, scratch folders, prefetched processes, the rules for repeating calls, and
//! failure counts.

use std::collections::HashMap;
use std::io;
use std::path::{Path, absolute};
use std::sync::{Mutex, PoisonError};

use mle_star::attempts::Patience;
use mle_star_domain::effects::AgentRequest;
use mle_star_domain::role::AgentType;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::input::Data;

use crate::cache::PromptCache;
use crate::child::{Child, StartError};
use crate::invocation::{Invocation, initialize};
use crate::prefetch::Prefetched;
use crate::setup::ClaudeSetup;
use crate::work_dir::WorkDirs;

/// The hint if every `claude` process ends during a call.
const KEEPS_DYING: &str =
    "check that claude works with `mle-star doctor --probe-agents`, then resume the run";

/// One run's connection to `claude`.
pub(crate) struct Client {
    pub(crate) setup: ClaudeSetup,
    // Fields drop in order: processes end before the folders they work in are removed.
    prefetched: Prefetched,
    work_dirs: WorkDirs,
    tool_failures: ToolFailures,
    pub(crate) patience: Patience,
    pub(crate) cache: PromptCache,
}

/// Consecutive failures of each agent's tools.
#[derive(Default)]
struct ToolFailures(Mutex<HashMap<AgentType, u32>>);

impl ToolFailures {
    fn count(&self, agent: AgentType, failed: bool) -> u32 {
        let mut failures = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = failures.entry(agent).or_insert(0);
        *count = if failed { *count + 1 } else { 0 };
        *count
    }
}

impl Client {
    pub(crate) fn new(mut setup: ClaudeSetup) -> Result<Self, Trouble> {
        let cannot = |doing: &'static str, path: &Path| {
            let path = path.to_owned();
            move |error: io::Error| Trouble::io(doing, &path, &error)
        };
        // Agents work in other folders, so the path must be absolute.
        setup.data_dir = absolute(&setup.data_dir).map_err(cannot("read", &setup.data_dir))?;
        let data = Data::new(setup.data_dir.clone(), &[]).map_err(cannot("read", &setup.data_dir))?;
        let work_dirs = WorkDirs::new(&setup.folder, data).map_err(cannot("create", &setup.folder))?;
        Ok(Self {
            patience: Patience::new(setup.max_wait, fastrand::f64, KEEPS_DYING),
            prefetched: Prefetched::new(setup.prefetch),
            setup,
            cache: PromptCache::of_environment(),
            work_dirs,
            tool_failures: ToolFailures::default(),
        })
    }

    /// A process for a call: a prefetched one, else a new one.
    pub(crate) fn child(&self, request: &AgentRequest) -> Result<Child, StartError> {
        let invocation = self.invocation(request);
        match self.prefetched.take(&invocation) {
            Some(child) => Ok(child),
            None => self.start(invocation, request),
        }
    }

    /// Starts processes for calls that are likely to follow.
    pub(crate) fn prefetch(&self, likely: &[AgentRequest]) {
        for request in likely.iter().take(self.setup.prefetch) {
            let invocation = self.invocation(request);
            // A start that fails here is repeated, and its error reported, when the call is made.
            self.prefetched.start(invocation, |invocation| self.start(invocation, request).ok());
        }
    }

    fn invocation(&self, request: &AgentRequest) -> Invocation {
        Invocation::new(&self.setup, request, self.cache.lifetime_for(request.tools))
    }

    fn start(&self, invocation: Invocation, request: &AgentRequest) -> Result<Child, StartError> {
        let child = Child::start(&self.setup.executable, invocation, &self.work_dirs, &request.system)?;
        // Sent now, it does not delay the prompt of a prefetched process.
        child.send(&initialize(&self.setup, request.tools));
        Ok(child)
    }

    /// Counts a success or failure of an agent's tools; returns the number of consecutive failures.
    pub(crate) fn count_tool(&self, agent: AgentType, failed: bool) -> u32 {
        self.tool_failures.count(agent, failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_in_a_row_are_counted_by_agent() {
        let failures = ToolFailures::default();
        let check = |agent, failed, count| assert_eq!(failures.count(agent, failed), count);
        check(AgentType::Init, true, 1);
        check(AgentType::Init, true, 2);
        check(AgentType::Debugger, true, 1);
        check(AgentType::Init, false, 0);
        check(AgentType::Init, true, 1);
        check(AgentType::Debugger, true, 2);
    }
}
