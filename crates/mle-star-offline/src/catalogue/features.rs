//! Refinement strategies for columns: features, computed row by row, and encodings, learnt from the fitting rows.

use serde_json::{Value, json};

use super::{Block, Strategy, with_import};
use crate::families::Family;
use crate::portfolio::{SELECTED_COLUMNS, selects_columns};
use crate::templates::render;

pub(super) const FEATURES: &[Strategy] = &[
    Strategy {
        name: "pairwise interactions",
        part: "Features",
        reason: "A model approximates the product or ratio of two columns only with many splits or not at all.",
        how: "Add products and ratios of the most varied numeric columns.",
        edit: interactions,
    },
    Strategy {
        name: "calendar parts of dates",
        part: "Features",
        reason: "Seasons, weekends, holidays and hours often drive the target.",
        how: "Add year, day, hour, weekend, the position in the year on a circle, and the days from Easter and Christmas for every date column.",
        edit: |block| insert(block, "steps/calendar", !block.problem.columns.dates.is_empty(), &json!({})),
    },
];

pub(super) const ENCODINGS: &[Strategy] = &[
    Strategy {
        name: SELECTED_COLUMNS,
        part: "Encoding",
        reason: "Among many columns, some look useful by chance, and models learn their noise.",
        how: "Keep the numeric columns that trees use more than shuffled copies of them, chosen on the fitting rows, or all if there are none.",
        edit: selected_columns,
    },
    Strategy {
        name: "target encoding inside the folds",
        part: "Encoding",
        reason: "The order of codes is arbitrary; that of target means is not.",
        how: "Add cross-fitted target means of every categorical column, learnt from the fitting rows alone.",
        edit: |block| {
            // Several targets share one encoding if no column has many categories.
            let shared = !block.problem.several.is_empty() && block.problem.columns.many_levels.is_empty();
            let wanted = !block.problem.columns.categorical.is_empty() && uses_blocks(block) && !shared;
            insert(block, "steps/target_means", wanted, &json!({}))
        },
    },
    Strategy {
        name: "piecewise curves of numbers",
        part: "Encoding",
        reason: "A linear model cannot bend with a column on its own.",
        how: "Add a spline basis of the numeric columns, with knots from the fitting rows.",
        edit: |block| {
            let numbers = block.problem.columns.numeric.len();
            let wanted = block.family() == Some(Family::Linear) && (1..=40).contains(&numbers);
            insert(block, "steps/splines", wanted, &json!({}))
        },
    },
    Strategy {
        name: "indicators of many categories",
        part: "Encoding",
        reason: "A target mean hides that two categories with the same mean differ in how sure it is.",
        how: "Add an indicator for every frequent enough category; the penalty shrinks those of rare ones.",
        edit: indicators,
    },
    Strategy {
        name: "character pieces of texts",
        part: "Encoding",
        reason: "Pieces of words survive misspellings, endings and compounds.",
        how: "Add the TF-IDF of character n-grams, learnt from the fitting rows, or its components.",
        edit: characters,
    },
];

/// Inserts a rendered step at the end, unless it does not apply or the block has it.
fn insert(block: &Block<'_>, template: &str, wanted: bool, values: &Value) -> Option<String> {
    insert_at(block, template, wanted, values, |lines| block.before_return(lines))
}

/// Inserts a rendered step where `place` puts its lines.
fn insert_at(
    block: &Block<'_>,
    template: &str,
    wanted: bool,
    values: &Value,
    place: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    // Models without columns of their own have nothing to add to.
    if !wanted || block.kind == "Features" && !block.text.contains("    return x") {
        return None;
    }
    let step = render(template, &json!({ "p": &*block.problem, "s": values })).ok()?;
    // Inside the function, imports would shadow those of the block.
    let is_import = |line: &&str| line.trim_start().starts_with("from ");
    let lines: Vec<&str> = step.lines().filter(|line| !is_import(line) && !line.trim().is_empty()).collect();
    let opening = lines.first()?;
    if block.text.contains(opening) {
        return None;
    }
    let text = place(&lines.join("\n"))?;
    let mut imports: Vec<&str> = step.lines().filter(is_import).map(str::trim).collect();
    imports.reverse();
    Some(imports.into_iter().fold(text, |text, import| with_import(&text, import)))
}

/// The encodings that collect matrices in a list called `blocks`.
fn uses_blocks(block: &Block<'_>) -> bool {
    block.text.contains("    blocks")
}

fn interactions(block: &Block<'_>) -> Option<String> {
    let chosen: Vec<&String> = block.problem.varied.iter().take(4).collect();
    let mut pairs = Vec::new();
    for (position, left) in chosen.iter().enumerate() {
        pairs.extend(chosen.iter().skip(position + 1).map(|right| json!([left, right])));
    }
    insert(block, "steps/interactions", !pairs.is_empty(), &json!({ "pairs": pairs }))
}

/// Where an encoding has a list of numeric columns, it becomes shorter; CatBoost gets frames with fewer columns.
fn selected_columns(block: &Block<'_>) -> Option<String> {
    let list = "    numeric = list(fit.select_dtypes(\"number\").columns)\n";
    let frames = !block.text.contains(list);
    let wanted = selects_columns(&block.problem) && (!frames || block.family() == Some(Family::CatBoost));
    insert_at(block, "steps/selected_columns", wanted, &json!({ "frames": frames }), |lines| match frames {
        true => block.before_return(lines),
        false => Some(block.text.replacen(list, &format!("{list}{lines}\n"), 1)),
    })
}

/// Linear models take all pieces, other models a few components of them.
fn characters(block: &Block<'_>) -> Option<String> {
    let wanted = !block.problem.columns.texts.is_empty() && uses_blocks(block);
    let linear = matches!(block.family()?, Family::Linear | Family::TfidfLinear);
    let step = if linear { "steps/character_counts" } else { "steps/character_ngrams" };
    insert(block, step, wanted, &json!({}))
}

fn indicators(block: &Block<'_>) -> Option<String> {
    let linear = matches!(block.family()?, Family::Linear | Family::TfidfLinear);
    let wanted = linear && !block.problem.columns.many_levels.is_empty() && uses_blocks(block);
    let text = insert(block, "steps/indicators", wanted, &json!({}))?;
    let dense = "    return np.hstack(known), lambda rows: np.hstack([maker(rows) for maker in makers])";
    if !text.contains(dense) {
        return Some(text);
    }
    let sparse = "    whole = lambda parts: hstack([csr_matrix(part) for part in parts]).tocsr()\n    return whole(known), lambda rows: whole([maker(rows) for maker in makers])";
    Some(with_import(&text.replacen(dense, sparse, 1), "from scipy.sparse import csr_matrix, hstack"))
}
