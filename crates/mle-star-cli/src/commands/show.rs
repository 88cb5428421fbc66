//! `show`: one run, or the script at one of its places.

use std::io::IsTerminal as _;
use std::path::Path;

use mle_star_domain::layout;
use mle_star_domain::trouble::Trouble;
use mle_star_report::at_work::AtWork;
use mle_star_report::run_report::RunReport;
use mle_star_report::run_view::{self, RunView};
use mle_star_report::sanitize::escape;
use mle_star_report::text;
use mle_star_report::views::{self, Context, code, picture};
use mle_star_run::nearest;
use serde_json::{Value, json};

use crate::args::ShowArgs;
use crate::exit::{Exit, Failure};
use crate::output;

/// Shows one run.
///
/// # Errors
/// There is no such run or place, or the journal cannot be read completely.
pub fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let folder = args.run.find()?;
    let view = run_view::read(&folder)?;
    if let Some(place) = &args.code {
        let script = find(&view, place)?.script;
        match args.json {
            true => output::json(&json!({"place": place, "script": script}))?,
            false => print_code(&script),
        }
    } else if let Some(place) = &args.diff {
        let code = find(&view, place)?;
        let parent = code.parent.as_ref().map(|(parent, _)| parent);
        match args.json {
            true => output::json(&json!({"place": code.place, "parent": parent, "diff": code.diff()}))?,
            false => print_diff(&code),
        }
    } else if args.svg {
        let nothing =
            || Trouble::new("nothing was scored yet", "`mle-star show RUN` shows what the run does");
        output::text(&picture::svg(&RunReport::of(&view)).ok_or_else(nothing)?);
    } else if args.json {
        output::json(&whole(&view))?;
    } else {
        let at_work = AtWork::of(&view);
        text::lines(&Context::of(&view, &at_work))?.iter().for_each(|line| output::shown(line));
    }
    if let Some(damage) = view.snapshot.damage {
        let hint = "only the readable part is shown; restore the journal from a copy, or start a new run";
        return Err(Failure::failed(Trouble::new(damage, hint)));
    }
    Ok(Exit::Done)
}

/// Everything about a run.
fn whole(view: &RunView) -> Value {
    let at_work = AtWork::of(view);
    let context = Context::of(view, &at_work);
    let report = RunReport::with(&context);
    let (last, folder) = (view.folder.join(layout::FINAL), &view.folder);
    let file = |folder: &Path, name: &str| Some(folder.join(name)).filter(|path| path.is_file());
    json!({
        "run": view.summary, "folder": folder, "score": report.score, "checks": report.checks,
        "remarks": report.notes(), "exit_code": view.result.as_ref().map(|result| Exit::of_result(result).code()),
        "files": {
            "submission": file(&last, layout::SUBMISSION), "solution": file(&last, layout::SOLUTION),
            "requirements": file(&last, layout::REQUIREMENTS), "report": file(folder, layout::REPORT),
            "result": file(folder, layout::RESULT),
        },
        "made_with": view.snapshot.made_with, "notes": view.snapshot.notes,
        "forked_from": view.snapshot.forked_from, "usage": view.spending, "runners": views::runner_rows(&context),
        "leaderboard": report.leaderboard(), "helped": report.helped, "steps": view.steps, "result": view.result,
    })
}

/// The script at a place.
///
/// # Errors
/// There is none.
fn find(view: &RunView, place: &str) -> Result<code::Code, Trouble> {
    code::at(view, place).map_err(|places| {
        let hint = match nearest(place, places.iter().map(String::as_str)) {
            Some(nearest) => format!("did you mean {nearest}? `mle-star show RUN` lists the places"),
            None => "this run has not run a script yet".to_owned(),
        };
        Trouble::new(format!("no script at {place}"), hint)
    })
}

/// Prints the script unchanged, or sanitized for a terminal.
fn print_code(script: &str) {
    if std::io::stdout().is_terminal() { output::text(&escape(script)) } else { output::text(script) }
}

fn print_diff(code: &code::Code) {
    match &code.parent {
        None => output::talk(&format!("{} has no parent script; --code prints it", code.place)),
        Some((parent, _)) if code.diff().is_empty() => {
            output::talk(&format!("{} is the same as {parent}", code.place));
        }
        Some(_) => print_code(&code.diff()),
    }
}
