//! The commands with their options, as Markdown.

use clap::{Arg, Command, CommandFactory as _};

use crate::args::Cli;

/// A section for each command, in the order of the help.
pub fn markdown() -> String {
    let mut program = Cli::command();
    program.build();
    let mut text = String::new();
    section(&mut text, &mut program);
    text
}

fn section(text: &mut String, command: &mut Command) {
    let is_command = |command: &Command| command.get_name() != "help" && !command.is_hide_set();
    let has_commands = command.get_subcommands().any(is_command);
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    // The program itself has a page around its section.
    if name != "mle-star" {
        let about = command.get_long_about().or(command.get_about()).map(ToString::to_string);
        let usage = command.render_usage().to_string().trim_start_matches("Usage: ").to_owned();
        let about = sentence(&about.unwrap_or_default());
        text.push_str(&format!("## `{name}`\n\n{about}\n\n```text\n{usage}\n```\n\n"));
        let rows: String = command.get_arguments().filter(|arg| is_shown(arg)).map(row).collect();
        if !rows.is_empty() {
            text.push_str(&format!("| argument, option | meaning |\n|---|---|\n{rows}\n"));
        }
    }
    if has_commands {
        let below: Vec<&mut Command> =
            command.get_subcommands_mut().filter(|below| is_command(below)).collect();
        below.into_iter().for_each(|below| section(text, below));
    }
}

fn is_shown(arg: &Arg) -> bool {
    !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
}

fn row(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let takes_value = arg.get_action().takes_values();
    let default = if defaults.is_empty() || !takes_value {
        String::new()
    } else {
        format!(" [default: {}]", defaults.join(" "))
    };
    let values: Vec<String> =
        arg.get_possible_values().iter().map(|value| format!("`{}`", value.get_name())).collect();
    let values =
        if values.is_empty() || !takes_value { String::new() } else { format!(": {}", values.join(", ")) };
    let short = arg.get_short().map_or_else(String::new, |short| format!("-{short}, "));
    format!("| `{short}{arg}` | {} |\n", cell(&format!("{help}{values}{default}")))
}

/// The text of a help, with a full stop and without its line breaks.
fn sentence(help: &str) -> String {
    let paragraphs: Vec<String> = help.split("\n\n").map(|text| with_period(&words(text))).collect();
    paragraphs.join("\n\n")
}

fn with_period(text: &str) -> String {
    if text.ends_with(['.', ':']) { text.to_owned() } else { format!("{text}.") }
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text in a table. Angle brackets outside code would be markup.
fn cell(text: &str) -> String {
    words(text).replace('|', "\\|").replace('<', "&lt;")
}
