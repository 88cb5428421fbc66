//! Whole runs whose metric is a Python file of the user.

use mle_star_needs::needs;
use serde_json::Value;

use crate::runs::SMALL;
use crate::sealed::{Said, Sealed};

const FILE: &str = "
NAME = 'capped error'
DIRECTION = 'minimize'

def score(solution, submission, row_id_column_name):
    assert solution[row_id_column_name].tolist() == submission[row_id_column_name].tolist()
    return float((solution.price - submission.price).abs().clip(upper=50).mean())
";

/// A regression task of 120 rows.
fn task() -> Sealed {
    let sealed = Sealed::with(&[]);
    let row = |id: usize| (id * 37 % 101, ["a", "b", "c"][id % 3]);
    let label = |id: usize| row(id).0 * 2 + id % 5;
    let lines = |from: usize, to: usize, of: &dyn Fn(usize) -> String| (from..to).map(of).collect::<String>();
    let train = lines(0, 120, &|id| format!("{id},{},{},{}.5\n", row(id).0, row(id).1, label(id)));
    let test = lines(120, 150, &|id| format!("{id},{},{}\n", row(id).0, row(id).1));
    let sample = lines(120, 150, &|id| format!("{id},0\n"));
    let write = |name: &str, header: &str, rows: String| {
        sealed.write(&format!("data/{name}.csv"), format!("{header}\n{rows}").as_bytes());
    };
    write("train", "id,size,town,price", train);
    write("test", "id,size,town", test);
    write("sample_submission", "id,price", sample);
    sealed
}

fn run(sealed: &Sealed, file: &str, options: &str) -> Said {
    sealed.write("mine.py", file.as_bytes());
    let python = mle_star_needs::python_with_libraries();
    sealed.run(&format!(
        "run data --agents offline --metric-file mine.py --set python={} --run-id r {SMALL} {options}",
        python.display()
    ))
}

#[test]
fn a_run_is_scored_by_the_file() {
    needs!(Libraries);
    let sealed = task();
    let said = run(&sealed, FILE, "");
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stderr.contains("metric: capped error by mine.py (lower is better; tried on 120 rows"),
        "{said:?}"
    );
    let json =
        |name: &str| -> Value { serde_json::from_str(&sealed.read(&format!("runs/r/{name}"))).unwrap() };
    let task = json("task.json");
    assert_eq!(
        (&task["evaluation_metric"], &task["metric_direction"]),
        (&"capped error".into(), &"minimize".into())
    );
    assert_eq!(sealed.read("runs/r/metric.py"), FILE);
    assert!(task["description"].as_str().unwrap().contains("clip(upper=50)"), "{task}");
    let result = json("result.json");
    let score = result["score"].as_f64().or_else(|| result["validation_score"].as_f64());
    assert!(score.is_none_or(|score| (0.0..50.0).contains(&score)), "{result}");
}
