//! The scripts that agents write, and the changes of each agent.

/// Which libraries the scripts of a run use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// pandas and scikit-learn, with every mistake.
    Learned,
    /// Only the standard library, which is fast, without mistakes.
    Flawless,
}

/// The beginning of the line with the models.
const MODELS: &str = "models = [";
/// A mistake in a script, and its repair.
pub const MISTAKES: [(&str, &str); 3] =
    [("scheduled_dep_time", "sched_dep_time"), ("score(SOLUTON)", "score(SOLUTION)"), ("[:100]", "")];
/// Lines that use the validation rows, and their corrections.
const LEAKS: [(&str, &str); 2] = [
    ("mean, spread = X.mean(), X.std()", "mean, spread = X_fit.mean(), X_fit.std()"),
    ("mean = sum(X) / len(X)", "mean = sum(X_fit) / len(X_fit)"),
];
const SUBMISSION: &str = "\n# Submission\n";

const LEARNED: &str = r#"import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

def read(name):
    return pd.read_csv(f"./input/{name}.csv")

def ids(table):
    return table["id"]

def features(table):
    return table[["month", "sched_dep_time", "distance"]].astype(float)

train = read("train")
if len(train) > 3000:
    train = train.sample(3000, random_state=0)
X, y = features(train), train["delayed"]
X_fit, X_valid, y_fit, y_valid = train_test_split(X, y, test_size=0.3, random_state=0)
mean, spread = X.mean(), X.std()
models = []
for model in models:
    model.fit((X_fit - mean) / spread, y_fit)

def predict(X):
    return sum(model.predict_proba((X - mean) / spread)[:, 1] for model in models) / len(models)

final_validation_score = roc_auc_score(y_valid, predict(X_valid))
print(f"Final Validation Performance: {final_validation_score}")
"#;

const LIGHT: &str = r#"import csv

class Hours:
    def __init__(self, C):
        self.C = C

    def rate(self, minutes):
        return (minutes + 1000 * self.C) % 2400

def read(name):
    with open(f"./input/{name}.csv") as file:
        return list(csv.DictReader(file))

def ids(table):
    return [row["id"] for row in table]

def features(table):
    return [float(row["sched_dep_time"]) for row in table]

train = read("train")
if len(train) > 3000:
    train = train[:3000]
X, y = features(train), [row["delayed"] == "1" for row in train]
X_fit, X_valid, y_fit, y_valid = X[:2000], X[2000:], y[:2000], y[2000:]
mean = sum(X) / len(X)
models = []

def predict(X):
    return [sum(model.rate(x - mean) for model in models) / len(models) / 2400 for x in X]

late = [rate for rate, is_late in zip(predict(X_valid), y_valid) if is_late]
other = [rate for rate, is_late in zip(predict(X_valid), y_valid) if not is_late]
pairs = sum((a > b) + (a == b) / 2 for a in late for b in other)
final_validation_score = pairs / (len(late) * len(other))
print(f"Final Validation Performance: {final_validation_score}")
"#;

/// A first solution. The one for the first model may have a mistake.
pub fn init(style: Style, is_first: bool) -> String {
    let (text, import, model) = match (style, is_first) {
        (Style::Learned, true) => {
            (LEARNED, "from sklearn.linear_model import LogisticRegression\n", "LogisticRegression(C=1.0)")
        }
        (Style::Learned, false) => (
            LEARNED,
            "from sklearn.tree import DecisionTreeClassifier\n",
            "DecisionTreeClassifier(max_depth=4, random_state=0)",
        ),
        (Style::Flawless, _) => (LIGHT, "", "Hours(C=1.0)"),
    };
    let text = with_models(&format!("{import}{text}"), model);
    if is_first && style != Style::Flawless { text.replace(MISTAKES[0].1, MISTAKES[0].0) } else { text }
}

/// The first solution with the models of all solutions.
pub fn merged(solutions: &[String]) -> String {
    let (base, others) = solutions.split_first().unwrap();
    let imports = others.iter().flat_map(|other| other.lines());
    let mut missing: Vec<&str> =
        imports.filter(|line| line.starts_with("from ") && !base.contains(line)).collect();
    missing.dedup();
    let header: String = missing.iter().map(|line| format!("{line}\n")).collect();
    let models: Vec<&str> = solutions.iter().map(|solution| models(solution)).collect();
    with_models(&format!("{header}{base}"), &models.join(", "))
}

/// The line with the models.
pub fn models_line(solution: &str) -> String {
    format!("{MODELS}{}]", models(solution))
}

fn models(solution: &str) -> &str {
    let line = solution.lines().find_map(|line| line.strip_prefix(MODELS)).unwrap();
    line.strip_suffix(']').unwrap()
}

fn with_models(solution: &str, models: &str) -> String {
    let replaced =
        |line: &str| if line.starts_with(MODELS) { format!("{MODELS}{models}]") } else { line.to_owned() };
    solution.lines().map(replaced).collect::<Vec<_>>().join("\n") + "\n"
}

/// The line of a script that leaks.
pub fn leak(script: &str) -> Option<&'static str> {
    LEAKS.iter().map(|(leak, _)| *leak).find(|leak| script.contains(leak))
}

pub fn without_leak(block: &str) -> String {
    LEAKS.iter().fold(block.to_owned(), |block, (leak, correct)| block.replace(leak, correct))
}

pub fn repaired(script: &str) -> String {
    MISTAKES.iter().fold(script.to_owned(), |script, (wrong, right)| script.replace(wrong, right))
}

/// An ablation study of the solution, with or without a mistake.
pub fn ablation(solution: &str, is_right: bool) -> String {
    let (wrong, right) = MISTAKES[1];
    let baseline = if is_right { right } else { wrong };
    format!(
        r#"SOLUTION = r'''
{solution}
'''

def score(code):
    names = {{}}
    exec(compile(code, "train.py", "exec"), names)
    return names["final_validation_score"]

baseline = {baseline}
print(f"baseline: {{baseline}}")
for what, part in [("month", '"month", '), ("distance", ', "distance"')]:
    changed = score(SOLUTION.replace(part, ""))
    print(f"without {{what}}: {{changed}} ({{changed - baseline:+}})")
"#
    )
}

/// The block with the number that the plan names.
pub fn refined(block: &str, plan: &str) -> String {
    let number: String = plan.split("C to ").nth(1).unwrap().chars().take_while(|c| *c != ';').collect();
    block.replace("C=1.0", &format!("C={number}")).replace("max_depth=4", "max_depth=5")
}

/// The solution with the planes' seats among its features.
pub fn with_planes(solution: &str) -> String {
    let merge = "    table = table.merge(planes, on=\"tailnum\", how=\"left\").fillna({\"seats\": 0})\n";
    let def = "def features(table):\n";
    solution
        .replace(def, &format!("planes = read(\"planes\")[[\"tailnum\", \"seats\"]]\n\n{def}{merge}"))
        .replace("\"distance\"]", "\"distance\", \"seats\"]")
}

/// The script with a submission for every test row, or only for the first ones.
pub fn submitting(solution: &str, is_whole: bool) -> String {
    let validating = solution.split(SUBMISSION).next().unwrap();
    let some = if is_whole { "" } else { MISTAKES[2].0 };
    format!(
        r#"{validating}{SUBMISSION}import csv

test = read("test")
with open("./final/submission.csv", "w", newline="") as file:
    rows = csv.writer(file)
    rows.writerow(["id", "delayed"])
    rows.writerows(list(zip(ids(test), predict(features(test)))){some})
"#
    )
}

/// The statement that subsamples, with its condition.
pub fn subsampling(script: &str) -> Option<String> {
    let lines: Vec<&str> = script.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("if len(train) > "))?;
    Some(lines[at..at + 2].join("\n"))
}
