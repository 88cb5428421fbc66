//! A run as lines of text.

use crate::figures::{duration, number};
use crate::model;
use crate::run_view::{Identity, RunView};
use crate::sanitize::first_line;
use crate::score_report::ScoreReport;
use crate::usage;
use crate::views::{self, Views, importance};

/// A run in lines.
pub fn lines(view: &RunView, views: &Views) -> Vec<String> {
    let mut lines = head(view, views);
    lines.extend(view.result.as_ref().map(importance::lines).unwrap_or_default());
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
    let constant = view.result.as_ref().and_then(|result| ScoreReport::of(result).constant_score);
    lines.extend(
        constant.map(|score| format!("constant:   {} (if all rows are predicted alike)", number(score))),
    );
    let naive = view.result.as_ref().and_then(|result| ScoreReport::of(result).seasonal_naive_score);
    lines.extend(naive.map(|score| format!("naive:      {} (a seasonal naive forecast)", number(score))));
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
    let model = view.result.as_ref().and_then(|result| model::words(&result.model));
    lines.extend(model.map(|words| format!("predict:    {words}")));
    lines.extend(views.overview.notes.iter().map(|note| format!("note:       {note}")));
    lines.extend(views.overview.forked_from.iter().map(|from| format!("forked:     from {from}")));
    let of_user = views.overview.from_user.iter();
    lines.extend(of_user.map(|note| {
        format!("your note:  {} ({}; {})", first_line(&note.text, 60), note.at_shown, note.seen)
    }));
    lines.extend(
        views.now.iter().flat_map(|now| &now.work).map(|work| format!("now:        {}", work.words())),
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
