//! `runner`: runs scripts for a program on another machine.

use std::io::IsTerminal as _;

use mle_star_backends::runners::serve::{RunnerSetup, serve};
use mle_star_domain::trouble::Trouble;

use crate::args::RunnerArgs;
use crate::exit::{Exit, Failure};
use crate::runtime::listen_for;

/// Serves the program at the other end of standard input and output until it is gone.
///
/// # Errors
/// The cache cannot be used, or the other side is no `mle-star`.
pub fn runner(args: &RunnerArgs) -> Result<Exit, Failure> {
    if std::io::stdin().is_terminal() {
        let hint = "name it as the `command` of an entry of `runners` in a config file, see docs/machines.md";
        return Err(Trouble::new("this command is started by `mle-star run`, not by hand", hint).into());
    }
    let setup = RunnerSetup { cache_limit_gib: args.cache_limit, copy_data: args.copy_data };
    let served = listen_for(async move { serve(&setup, tokio::io::stdin(), tokio::io::stdout()).await })?;
    served.map(|()| Exit::Done).map_err(Failure::failed)
}
