//! A run as lines of text.

use crate::figures::{duration, number};
use crate::run_view::{Identity, RunView};
use crate::sanitize::first_line;
use crate::usage;
use crate::views::{self, Views};

/// A run in lines.
pub fn lines(view: &RunView, views: &Views) -> Vec<String> {
    let mut lines = head(view, views);
    lines.extend(ledger(views));
    for group in &views.tree.groups {
        lines.extend([String::new(), group.name.clone()]);
        for node in &group.nodes {
            let mark = if node.on_way { "◆" } else { " " };
            let (score, change) =
                (node.score.as_deref().unwrap_or_default(), node.change.as_deref().unwrap_or_default());
            let time = node.time.as_deref().unwrap_or_default();
            let name = format!("{}{}", "  ".repeat(usize::from(node.depth)), node.place);
            let line = format!(
                "{mark} {name:<26} {score:>12} {change:>12} {time:>8}  {}",
                first_line(&node.outcome, 60)
            );
            lines.push(line.trim_end().to_owned());
        }
    }
    if !views.tree.groups.is_empty() {
        lines.extend([
            String::new(),
            "◆ led to the best solution; --code PLACE prints a script, --diff PLACE its changes".to_owned(),
        ]);
    }
    lines
}

fn head(view: &RunView, views: &Views) -> Vec<String> {
    let Identity { run_id, state, metric, direction } = &view.summary.run;
    // The final solution is not always the one with the best score.
    let best = match &views.overview.score.validated {
        Some(validated) => format!("validated:  {validated}"),
        None => {
            format!("best score: {}", view.summary.best_score.map_or_else(|| "none yet".to_owned(), number))
        }
    };
    let at = views.overview.score.best_at.as_ref().map_or_else(String::new, |at| format!(" ({at})"));
    let mut lines = vec![
        format!("run:        {run_id} ({})", state.name()),
        format!("folder:     {}", view.folder.display()),
        format!("task:       {}", view.summary.task),
        format!("metric:     {metric} ({})", direction.name()),
        format!("{best}{at}"),
    ];
    lines.extend(views.overview.score.held_out.iter().map(|score| format!("held out:   {score}")));
    lines.extend([
        format!("time:       {}", duration(view.summary.spent.elapsed_seconds)),
        format!("scripts:    {}, {} failed", views.overview.work.scripts, views.overview.work.failed),
    ]);
    for (index, row) in views.runners.iter().flat_map(|runners| &runners.rows).enumerate() {
        lines.push(format!("{:11} {}", if index == 0 { "runners:" } else { "" }, row.words()));
    }
    lines.push(format!("made with:  {}", views.script.made_with));
    lines.extend(views.overview.work.cost.iter().map(|line| format!("cost:       {line}")));
    lines.extend(view.summary.answer.submission.iter().map(|path| format!("submission: {path}")));
    lines.extend(views.overview.notes.iter().map(|note| format!("note:       {note}")));
    lines.extend(
        views
            .overview
            .now
            .iter()
            .map(|now| format!("now:        {}: {}, {}", now.place, now.what, now.since)),
    );
    let costs = usage::lines(&view.spending);
    if !costs.is_empty() {
        lines.push(String::new());
        lines.extend(costs);
    }
    lines
}

fn ledger(views: &Views) -> Vec<String> {
    let ledger = &views.ledger;
    if ledger.entries.is_empty() {
        return Vec::new();
    }
    let title = format!("accepted changes: {} of {} scored edits", ledger.entries.len(), ledger.tried);
    let entry = |entry: &views::Entry| {
        let mark = if entry.on_way { "◆" } else { " " };
        format!(
            "{mark} {:<26} {:>12} {:>12}  {}",
            entry.place,
            entry.score,
            entry.change,
            first_line(&entry.plan, 60)
        )
    };
    [String::new(), title].into_iter().chain(ledger.entries.iter().map(entry)).collect()
}
