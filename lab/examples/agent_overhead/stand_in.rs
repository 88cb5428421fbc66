//! Scripts in place of `claude`: one with fixed answers, and one that starts the real `claude` with a service.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

const SOLUTION: &str = "\
print('start')
import csv
rows = list(csv.DictReader(open('input/train.csv')))
predictions = ['0' for _ in rows]
right = [row['y'] == prediction for row, prediction in zip(rows, predictions)]
print(f'Final Validation Performance: {sum(right) / len(right)}')
";
const SUBMISSION: &str = "import os\nos.makedirs('final', exist_ok=True)\nopen('final/submission.csv', 'w').write('id,y\\n1,0\\n')\n";

/// A script that takes `start` seconds to start and `answer` seconds to answer any prompt.
pub fn stand_in(folder: &Path, start: f64, answer: f64) -> io::Result<PathBuf> {
    let answers = folder.join("answers");
    fs::create_dir(&answers)?;
    for (agent, text) in texts() {
        fs::write(answers.join(agent), format!("{}\n{}\n", said(&text), ended(&text)))?;
    }
    let answers = answers.display();
    let script = format!(
        r#"#!/bin/sh
sleep {start}
while IFS= read -r line; do
    case "$line" in *'"type":"user"'*) break ;; esac
done
sleep {answer}
exec cat "{answers}/$MLE_STAR_AGENT${{MLE_STAR_VARIANT:+-$MLE_STAR_VARIANT}}"
"#
    );
    executable(&folder.join("stand-in"), &script)
}

/// A script that starts the real `claude` with the service at `address` and an empty home.
pub fn wrapper(folder: &Path, claude: &Path, address: &str) -> io::Result<PathBuf> {
    let (home, claude) = (folder.display(), fs::canonicalize(claude)?);
    let claude = claude.display();
    let script = format!(
        "#!/bin/sh\nunset ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN\nexport HOME={home} \
         ANTHROPIC_BASE_URL={address} ANTHROPIC_API_KEY=none\nexec {claude} \"$@\"\n"
    );
    executable(&folder.join("wrapper"), &script)
}

fn executable(path: &Path, script: &str) -> io::Result<PathBuf> {
    fs::write(path, script)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(path.to_owned())
}

fn texts() -> Vec<(&'static str, String)> {
    let code = |code: &str| format!("```python\n{code}```");
    let model = |number: u32| json!({"model_name": format!("model {number}"), "example_code": "fit()"});
    let clean = json!({"answers": [{"leakage_status": "No Data Leakage", "code_block": ""}]});
    let plan = json!({"plans": [{"code_block": "print('start')", "plan": "improve it"}]});
    vec![
        ("retriever", json!({"models": [model(1), model(2), model(3), model(4)]}).to_string()),
        ("init", code(SOLUTION)),
        ("merger", code(SOLUTION)),
        ("ablation", code("print('ablation')\n")),
        ("summarize", "It matters.".to_owned()),
        ("extractor", plan.to_string()),
        ("coder", code("print('start')\n")),
        ("planner", "Try again.".to_owned()),
        ("ens_planner", "Average.".to_owned()),
        ("ensembler", code(SOLUTION)),
        ("debugger", code(SOLUTION)),
        ("leakage-detection", clean.to_string()),
        ("data", "All the provided information is used.".to_owned()),
        ("test", code(SUBMISSION)),
        ("test-subsampling_extract", "There is no subsampling.".to_owned()),
    ]
}

fn said(text: &str) -> Value {
    json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}})
}

fn ended(text: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": false, "result": text, "total_cost_usd": 0.0})
}
