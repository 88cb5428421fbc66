//! What the calls of a run share: settings, scratch folders, the rules for repeating calls, and failure counts.

use std::collections::HashMap;
use std::io;
use std::path::{Path, absolute};
use std::sync::{Mutex, PoisonError};

use mle_star::attempts::RetryPolicy;
use mle_star_domain::effects::AgentRequest;
use mle_star_domain::role::AgentType;
use mle_star_domain::trouble::Trouble;
use mle_star_tables::input::Data;

use crate::cache::PromptCache;
use crate::child::{Child, StartError};
use crate::invocation::{Invocation, initialize};
use crate::setup::ClaudeSetup;
use crate::work_dir::WorkDirs;

/// The hint if every `claude` process ends during a call.
const KEEPS_DYING: &str = "check that claude works with `claude -p hello`, then resume the run";

/// One run's connection to `claude`.
pub(crate) struct Client {
    pub(crate) setup: ClaudeSetup,
    work_dirs: WorkDirs,
    tool_failures: ToolFailures,
    pub(crate) retry_policy: RetryPolicy,
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
            retry_policy: RetryPolicy::new(setup.max_wait, fastrand::f64, KEEPS_DYING),
            setup,
            cache: PromptCache::of_environment(),
            work_dirs,
            tool_failures: ToolFailures::default(),
        })
    }

    /// A process for a call.
    pub(crate) fn child(&self, request: &AgentRequest) -> Result<Child, StartError> {
        let invocation = Invocation::new(&self.setup, request, self.cache.lifetime_for(request.tools));
        let child = Child::start(&self.setup.executable, invocation, &self.work_dirs, &request.system)?;
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
