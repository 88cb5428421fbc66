//! Python tracebacks: the line of a script that failed.

use mle_star_domain::layout;

/// Lines shown before and after the failing one.
const AROUND: usize = 4;

/// The line of the script in which the error arose, with its neighbours and line numbers; empty if it is unknown.
///
/// Of the traceback's frames, the last one whose quoted line is that line of the script counts.
pub fn failing_lines(script: &str, traceback: &str) -> String {
    let lines: Vec<&str> = script.lines().collect();
    let Some(number) = frames(script, traceback).last().copied() else { return String::new() };
    let at = number - 1;
    let shown = at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len());
    let one = |index: usize| {
        let mark = if index == at { '>' } else { ' ' };
        format!("{mark}{:>5} {}", index + 1, lines[index]).trim_end().to_owned()
    };
    shown.map(one).collect::<Vec<_>>().join("\n")
}

/// Whether the first frame of a traceback is at or behind the first line that names the folder of the model. Scripts write
/// their submission before it.
pub fn fails_while_saving(script: &str, traceback: &str) -> bool {
    let saves = |line: &str| line.contains(layout::PREDICT) || line.contains("final/model");
    let saved_at = (1..).zip(script.lines()).find(|(_, line)| saves(line)).map(|(at, _)| at);
    // The first frame is outside all functions.
    saved_at.is_some_and(|saved_at| frames(script, traceback).first().is_some_and(|at| *at >= saved_at))
}

/// The numbers of the script's lines that the traceback quotes, in its order.
fn frames(script: &str, traceback: &str) -> Vec<usize> {
    let lines: Vec<&str> = script.lines().collect();
    let quoted: Vec<&str> = traceback.lines().collect();
    let of_script = |pair: &[&str]| {
        let number = frame(pair[0])?;
        let line = lines.get(number.checked_sub(1)?)?;
        (!line.trim().is_empty() && line.trim() == pair[1].trim()).then_some(number)
    };
    quoted.windows(2).filter_map(of_script).collect()
}

/// The line of `  File "a.py", line 3, in f`.
fn frame(line: &str) -> Option<usize> {
    let (_, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "import pandas as pd\n\ndef load():\n    return pd.read_csv('x.csv')\n\nframe = load()\nprint(frame['y'])\n";
    const TRACEBACK: &str = "Traceback (most recent call last):\n  \
        File \"/runs/1/script.py\", line 6, in <module>\n    frame = load()\n            ^^^^^^\n  \
        File \"/runs/1/script.py\", line 4, in load\n    return pd.read_csv('x.csv')\n  \
        File \"/venv/lib/python3.11/site-packages/pandas/io/common.py\", line 7, in get_handle\n    handle = open(\n\
        FileNotFoundError: [Errno 2] No such file or directory: 'x.csv'";

    #[test]
    fn the_failing_line_is_the_last_one_of_the_script() {
        let shown = failing_lines(SCRIPT, TRACEBACK);
        assert!(shown.contains("\n>    4     return pd.read_csv('x.csv')\n"), "{shown}");
    }

    #[test]
    fn a_script_may_fail_while_it_saves_its_model() {
        let check = |instead: &str, with: &str, expected: bool| {
            assert_eq!(fails_while_saving(&SCRIPT.replace(instead, with), TRACEBACK), expected, "{with}");
        };
        check("", "", false);
        check("import pandas as pd\n\n", "import pandas as pd\nos.mkdir('./final/model')\n", true);
        check("print(frame['y'])", "os.mkdir('./final/model')", false);
        check("frame = load()", "other = load()", false);
    }
}
