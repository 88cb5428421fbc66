//! Comments that allow findings.

use mle_star_leakage::{Facts, Rule, review};

const SCORE: &str = "print('Final Validation Performance: 0.91')";

#[test]
fn comments_with_a_reason_allow_findings_of_their_line_or_the_next() {
    let check = |script: &str, found: &[(Rule, u32)], reasons: &[&str]| {
        let reviewed = review(script, &Facts::default()).unwrap();
        let of: Vec<(Rule, u32)> =
            reviewed.findings.iter().map(|finding| (finding.rule, finding.line)).collect();
        assert_eq!(of, found, "{script}");
        let of: Vec<&str> = reviewed.allowed.iter().map(|allowed| allowed.reason.as_str()).collect();
        assert_eq!(of, reasons, "{script}");
    };
    let leak = |line: u32| (Rule::ConstantScore, line);
    let wrong = |line: u32| (Rule::AllowWithoutReason, line);
    check(SCORE, &[leak(1)], &[]);
    check(&format!("{SCORE}  # mle-star: allow constant-score: a placeholder"), &[], &["a placeholder"]);
    check(&format!("{SCORE}  #mle-star:allow constant-score:x"), &[], &["x"]);
    check(&format!("# mle-star: allow constant-score: a: b\n{SCORE}"), &[], &["a: b"]);
    check(&format!("# mle-star: allow constant-score: x\n# a word\n\n{SCORE}"), &[], &["x"]);
    check(&format!("if True:\n    # mle-star: allow constant-score: x\n    {SCORE}"), &[], &["x"]);
    check(&format!("# mle-star: allow same-rows, constant-score: x\n{SCORE}"), &[], &["x"]);
    // Each line is one for itself, and other rules stay.
    check(&format!("x = 1  # mle-star: allow constant-score: x\n{SCORE}"), &[leak(2)], &[]);
    check(&format!("# mle-star: allow constant-score: x\nx = 1\n{SCORE}"), &[leak(3)], &[]);
    check(&format!("{SCORE}\n# mle-star: allow constant-score: x"), &[leak(1)], &[]);
    check(&format!("{SCORE}  # mle-star: allow same-rows: x"), &[leak(1)], &[]);
    // Texts are no comments, and other comments say something else.
    check(&format!("x = '# mle-star: allow constant-score: x'; {SCORE}"), &[leak(1)], &[]);
    check(&format!("{SCORE}  # mle-star: allowed, noqa"), &[leak(1)], &[]);
    // Without a reason, a comment allows nothing.
    check(&format!("{SCORE}  # mle-star: allow constant-score"), &[leak(1), wrong(1)], &[]);
    check(&format!("{SCORE}  # mle-star: allow constant-score:  "), &[leak(1), wrong(1)], &[]);
    check(&format!("{SCORE}  # mle-star: allow"), &[leak(1), wrong(1)], &[]);
    check(&format!("{SCORE}  # mle-star: allow a-constant: x"), &[leak(1), wrong(1)], &[]);
    check("x = 1  # mle-star: allow: x", &[wrong(1)], &[]);
}

/// A score counts if it is followed, or if something is called like one.
#[test]
fn a_script_has_a_score_or_nothing_to_check() {
    let check = |script: &str, expected: bool| {
        assert_eq!(review(script, &Facts::default()).unwrap().has_score, expected, "{script}");
    };
    check("", false);
    check("import pandas as pd\nprint(pd.read_csv('train.csv').head())", false);
    check("# The accuracy is computed elsewhere.\nx = 1", false);
    check(SCORE, true);
    check("from sklearn.metrics import accuracy_score as rate", true);
    check("print(f'Validation RMSE: {of(model)}')", true);
    check("model.fit(x, y, eval_set=[(a, b)])", true);
    let by_hand = "
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import train_test_split
train, valid = train_test_split(pd.read_csv('train.csv'))
given = Ridge().fit(train[['size']], train['price']).predict(valid[['size']])
print(((valid['price'] - given) ** 2).mean())
";
    check(by_hand, true);
}
