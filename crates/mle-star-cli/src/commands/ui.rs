//! `ui`: serves the runs directory as a web page.

use mle_star_domain::trouble::Trouble;
use serde_json::json;
use tokio::runtime::Builder;

use super::runs_dir;
use crate::args::UiArgs;
use crate::exit::{Exit, Failure};
use crate::output;
use crate::ui::{BoundServer, Site, bind, serve};

/// Serves until Ctrl-C.
///
/// # Errors
/// The port is in use, or the host is not an address of this machine.
pub fn ui(args: &UiArgs) -> Result<Exit, Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| {
        Failure::failed(Trouble::new(
            format!("cannot start: {error}"),
            "free memory, or stop other processes",
        ))
    })?;
    runtime.block_on(async {
        let bound = bind(&args.host, args.port).await?;
        let site = Site::new(&runs_dir(args.runs_dir.clone()));
        announce(args, &bound, &site);
        serve(bound, site).await.map_err(Failure::failed)?;
        Ok(Exit::Done)
    })
}

fn announce(args: &UiArgs, bound: &BoundServer, site: &Site) {
    if args.json {
        output::data(&json!({"url": bound.url}).to_string());
        return;
    }
    output::data(&bound.url);
    output::talk(&format!(
        "serving the runs of {}; Ctrl-C stops the server, runs continue",
        site.runs_dir.display()
    ));
    if bound.is_open {
        output::talk(
            "other machines can reach this page: anyone with the address and its token can start and stop runs",
        );
    }
}
