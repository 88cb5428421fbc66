//! Scripts for data folders with several targets.

use mle_star_needs::needs;

use super::folders::{Folder, THREE_LABELS, TWO_NUMBERS, check, check_changed};

#[test]
fn one_script_predicts_several_targets() {
    needs!(Libraries);
    check(&[
        TWO_NUMBERS,
        THREE_LABELS,
        Folder {
            name: "gaps, categories and an order of their own",
            metric: "RMSE",
            features: "id,town,day",
            cells: |row, _| format!("{row},town {},2024-01-{:02}", row % 40, 1 + row % 28),
            targets: "y,other,z",
            labels: |row, [a, b]| {
                format!("{},7,{b:.3}", if row % 9 == 0 { String::new() } else { format!("{a:.3}") })
            },
            wanted: ("z,y", "0.5,0.5"),
            ..TWO_NUMBERS
        },
        Folder {
            name: "two answers",
            metric: "F1",
            targets: "old,tall",
            labels: |_, [a, b]| format!("{},{}", if a > 0.5 { "yes" } else { "no" }, u8::from(b > 0.5)),
            wanted: ("old,tall", "no,0"),
            ..TWO_NUMBERS
        },
    ]);
}

#[test]
fn scripts_for_several_targets_can_be_changed_and_combined() {
    needs!(Libraries);
    check_changed(&[TWO_NUMBERS, THREE_LABELS]);
}

#[test]
fn what_several_targets_cannot_be_is_named() {
    let three =
        Folder { labels: |row, _| format!("{},{}", row % 3, row % 2), metric: "accuracy", ..TWO_NUMBERS };
    assert_eq!(three.refusal(), "there are 2 targets, and `energy` has more than two classes");
    let unknown = Folder { wanted: ("energy,gap,odd", "1,1,1"), ..TWO_NUMBERS };
    assert!(unknown.refusal().contains("the column `odd`, which no table has"));
}
