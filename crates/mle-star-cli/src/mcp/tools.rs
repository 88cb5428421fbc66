//! The tools: commands of this program, whose options are their inputs.

use clap::{Arg, ArgAction, Command, CommandFactory as _};
use mle_star_domain::nearest::nearest;
use mle_star_domain::task::TaskKeys;
use mle_star_domain::trouble::Trouble;
use serde_json::{Map, Value, json};

use crate::args::Cli;
use crate::processes::expanded;

/// Options that the server sets, or that are not for it.
const OWN: [&str; 5] = ["help", "version", "json", "quiet", "runs_dir"];

/// A tool.
pub struct Tool {
    pub name: &'static str,
    about: &'static str,
    /// For clients that ask their user.
    effect: Effect,
    /// The command, and the options that make it this tool.
    line: &'static [&'static str],
    /// Further options that it does not have.
    without: &'static [&'static str],
    /// An argument whose text is the command's standard input, with its description.
    stdin: Option<(&'static str, &'static str)>,
    /// Long parts of the command's JSON that the answer does not have.
    pub left_out: &'static [&'static str],
}

enum Effect {
    Reads,
    Acts,
    Ends,
}

const BASE: Tool =
    Tool { name: "", about: "", effect: Effect::Reads, line: &[], without: &[], stdin: None, left_out: &[] };

/// All tools, in the order in which an agent uses them.
pub static TOOLS: [Tool; 12] = [
    Tool {
        name: "preview",
        about: "Show what run would do with the same input: the inferred task with reasons, the agents, how solutions are \
evaluated, and the expected number of calls and cost. Starts nothing and writes nothing.",
        line: &["run", "--estimate"],
        without: &["detach"],
        ..BASE
    },
    Tool {
        name: "run",
        about: "Start a run that solves a machine-learning task. Returns at once with the run's ID and folder; the run works \
for minutes to hours in its own process and goes on when this session ends. Then call watch. The agents are built-in rules, \
free and without network, unless you set agents or max_budget_usd: language models cost money. Call preview first to see \
what is inferred and expected.",
        effect: Effect::Acts,
        line: &["run", "--detach"],
        without: &["estimate"],
        ..BASE
    },
    Tool {
        name: "watch",
        about: "Wait for news of a run, or with until=\"end\" for its end, at most wait seconds, and return its progress. Call \
it again until the state is not running. Pass next of the last answer as since to miss nothing in between.",
        line: &["watch", "--news"],
        ..BASE
    },
    Tool {
        name: "result",
        about: "Show what a run is worth: validation and held-out score with 95 % intervals, what was checked, why a score is \
suspect if it is, and the paths of submission, script and report. Of an unfinished run, the best answer so far.",
        line: &["show"],
        without: &["code", "diff"],
        left_out: &["steps", "result", "runners", "usage", "made_with"],
        ..BASE
    },
    Tool {
        name: "show",
        about: "Show a run: its summary and its steps; with code, the script of a step, with diff, what it changed.",
        line: &["show"],
        left_out: &["result"],
        ..BASE
    },
    Tool {
        name: "list",
        about: "List runs, oldest first: state, best score, time and cost.",
        line: &["list"],
        ..BASE
    },
    Tool {
        name: "stop",
        about: "Stop a run, as Ctrl-C does, and wait until it has stopped. What was done is recorded: resume continues it, and \
result names the best answer so far. Called again while a run is still stopping, it ends the run at once.",
        effect: Effect::Ends,
        line: &["stop"],
        ..BASE
    },
    Tool {
        name: "resume",
        about: "Continue a run that was stopped or interrupted, or that used its time or its money. Finished steps are not \
repeated. Raise the limit that cut it short.",
        effect: Effect::Acts,
        line: &["resume", "--detach"],
        ..BASE
    },
    Tool {
        name: "note",
        about: "Leave a note for the agents of a running or interrupted run: its planners see it from their next call on.",
        effect: Effect::Acts,
        line: &["note"],
        ..BASE
    },
    Tool {
        name: "fork",
        about: "Start a new run from a place of another one: it shares all records before the place, pays none of them again, \
and goes on with changed settings.",
        effect: Effect::Acts,
        line: &["fork", "--detach"],
        ..BASE
    },
    Tool {
        name: "check",
        about: "Find leaks of validation data in Python scripts or notebooks: scores that saw their own answers. Follows the \
data through the source and runs nothing. A score of a script with a leak does not count. Give script or source.",
        line: &["check"],
        stdin: Some(("source", "The text of one script or notebook")),
        ..BASE
    },
    Tool {
        name: "doctor",
        about: "Check this machine: Python, the agents that run would choose and why, credentials (names only), hardware, and \
isolation of scripts. Changes nothing.",
        line: &["doctor"],
        without: &["python"],
        ..BASE
    },
];

/// A command line with its standard input.
#[derive(Debug, PartialEq, Eq)]
pub struct CommandLine {
    pub words: Vec<String>,
    pub stdin: String,
}

impl Tool {
    /// As clients see it.
    pub fn definition(&self) -> Value {
        let command = self.command();
        let arguments = self.arguments(&command);
        let mut properties: Map<String, Value> =
            arguments.iter().map(|arg| (name(arg), property(arg))).collect();
        let texts = self.stdin.map(|(name, about)| (name, json!({"type": "string", "description": about})));
        properties.extend(texts.map(|(name, about)| (name.to_owned(), about)));
        let required: Vec<String> =
            arguments.iter().filter(|arg| arg.is_required_set()).map(|arg| name(arg)).collect();
        let hints = match self.effect {
            Effect::Reads => json!({"readOnlyHint": true, "openWorldHint": false}),
            Effect::Acts => json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}),
            Effect::Ends => json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true}),
        };
        json!({
            "name": self.name,
            "description": self.about,
            "inputSchema": {
                "type": "object", "properties": properties, "required": required, "additionalProperties": false,
            },
            "annotations": hints,
        })
    }

    /// The command line for these arguments.
    ///
    /// # Errors
    /// The tool has no such argument.
    pub fn line(&self, arguments: &Map<String, Value>, runs_dir: &str) -> Result<CommandLine, Trouble> {
        let command = self.command();
        let mut words: Vec<String> = self.line.iter().map(|&word| word.to_owned()).collect();
        words.push("--json".to_owned());
        if command.get_arguments().any(|arg| arg.get_id() == "runs_dir") {
            words.push(format!("--runs-dir={runs_dir}"));
        }
        let mut line = CommandLine { words, stdin: String::new() };
        let mut positional = Vec::new();
        let known = self.arguments(&command);
        for (given, value) in arguments {
            if self.stdin.is_some_and(|(stdin, _)| stdin == given) {
                line.stdin = text(value);
                positional.push((usize::MAX, "-".to_owned()));
            } else {
                let arg = known.iter().find(|arg| name(arg) == *given);
                let arg = arg.ok_or_else(|| unknown(given, known.iter().map(|arg| name(arg))))?;
                match arg.get_index() {
                    Some(index) => positional.extend(texts(value).into_iter().map(|text| (index, text))),
                    None => line.words.extend(option(arg, value)),
                }
            }
        }
        positional.sort_by_key(|(index, _)| *index);
        line.words.push("--".to_owned());
        line.words.extend(positional.into_iter().map(|(_, text)| text));
        Ok(line)
    }

    fn command(&self) -> Command {
        let mut program = Cli::command();
        program.build();
        program.find_subcommand(self.line[0]).cloned().unwrap_or_default()
    }

    /// The options of the command that the tool has: those that can stand beside `--json`.
    fn arguments<'a>(&self, command: &'a Command) -> Vec<&'a Arg> {
        let is_fixed =
            |arg: &Arg| arg.get_long().is_some_and(|long| self.line.contains(&&*format!("--{long}")));
        let is_text = |arg: &Arg| {
            let conflicts = command.get_arg_conflicts_with(arg);
            arg.is_exclusive_set() || conflicts.iter().any(|other| other.get_id() == "json")
        };
        let is_hidden = |arg: &Arg| {
            let id = arg.get_id().as_str();
            OWN.contains(&id) || self.without.contains(&id) || arg.is_hide_set()
        };
        command.get_arguments().filter(|arg| !is_hidden(arg) && !is_fixed(arg) && !is_text(arg)).collect()
    }
}

/// The name of an argument: of an option its own, and what the help calls a value without option.
fn name(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first()).filter(|_| arg.is_positional());
    value.map_or_else(|| arg.get_id().to_string(), |value| value.to_lowercase())
}

/// An argument as a property of a schema.
fn property(arg: &Arg) -> Value {
    let value = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let mut property = match arg.get_action() {
        ArgAction::SetTrue => json!({"type": "boolean"}),
        _ if value == "KEY=VALUE" => json!({"type": "object"}),
        ArgAction::Append => json!({"type": "array", "items": {"type": "string"}}),
        _ if arg.is_positional() && arg.get_num_args().is_some_and(|count| count.max_values() > 1) => {
            json!({"type": "array", "items": {"type": "string"}})
        }
        _ if ["SECONDS", "USD", "SHARE", "N"].contains(&value) => json!({"type": ["number", "string"]}),
        _ => json!({"type": "string"}),
    };
    let words: Vec<String> =
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    if !words.is_empty() && property["type"] == "string" {
        property["enum"] = words.into();
    }
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    property["description"] = help.replace(" (repeatable)", "").into();
    property
}

/// The words of an option with this value.
fn option(arg: &Arg, value: &Value) -> Vec<String> {
    let long = arg.get_long().unwrap_or_default();
    let texts = texts(value);
    match arg.get_action() {
        ArgAction::SetTrue => (*value == true).then(|| format!("--{long}")).into_iter().collect(),
        // A list in brackets, as a name may have a comma.
        _ if value.is_array() && TaskKeys::key(arg.get_id().as_str()).is_some() => {
            vec![format!("--{long}={}", json!(texts))]
        }
        _ => texts.into_iter().map(|text| format!("--{long}={text}")).collect(),
    }
}

/// The values of an argument: each of a list, and `KEY=VALUE` for each field of an object.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(all) => all.iter().map(text).collect(),
        Value::Object(fields) => fields.iter().map(|(key, value)| format!("{key}={}", text(value))).collect(),
        one => vec![text(one)],
    }
}

/// A text as it is, with the home folder for `~`; anything else as JSON, which is YAML.
fn text(value: &Value) -> String {
    let path = |text: &str| expanded(text).display().to_string();
    value.as_str().map_or_else(|| value.to_string(), path)
}

fn unknown(given: &str, known: impl Iterator<Item = String>) -> Trouble {
    let known: Vec<String> = known.collect();
    let hint = match nearest(given, known.iter().map(String::as_str)) {
        Some(nearest) => format!("did you mean {nearest}?"),
        None => format!("the arguments are {}", known.join(", ")),
    };
    Trouble::new(format!("there is no argument {given}"), hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_those_of_the_command_line() {
        let check = |name: &str, arguments: Value, words: &str, stdin: &str| {
            let tool = TOOLS.iter().find(|tool| tool.name == name).unwrap();
            let line = tool.line(arguments.as_object().unwrap(), "runs").unwrap();
            assert_eq!((line.words.join("|").as_str(), line.stdin.as_str()), (words, stdin));
            // Clap takes them.
            Cli::command().try_get_matches_from(format!("mle-star|{words}").split('|')).unwrap();
        };
        let arguments = json!({
            "task": "data", "time_limit": 60, "ignore_columns": ["a, b", "c"], "learn_from": ["x", "y"], "model": null,
            "set": {"holdout": 0.2, "agent_models": {"coder": "m"}},
        });
        let words = r#"run|--detach|--json|--runs-dir=runs|--ignore-columns=["a, b","c"]|--learn-from=x|--learn-from=y|--set=agent_models={"coder":"m"}|--set=holdout=0.2|--time-limit=60|--|data"#;
        check("run", arguments, words, "");
        let words = "note|--json|--runs-dir=runs|--|r|--try it";
        check("note", json!({"text": "--try it", "run": "r"}), words, "");
        let words = "check|--json|--target=y|--|-";
        check("check", json!({"source": "print(1)", "target": "y"}), words, "print(1)");
    }
}
