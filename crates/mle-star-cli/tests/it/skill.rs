//! The skill file for coding agents: what it names exists.

use std::collections::BTreeSet;

use crate::sealed::Sealed;

/// The words of each command line in the file's code blocks.
fn command_lines(skill: &str) -> Vec<Vec<String>> {
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in skill.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
            continue;
        }
        let command = line.split('#').next().unwrap_or_default().trim();
        let command = command.rsplit("| ").next().unwrap_or_default();
        if is_code && command.starts_with("mle-star ") {
            lines.push(command.split_whitespace().skip(1).map(str::to_owned).collect());
        }
    }
    lines
}

/// The words in backticks outside code blocks.
fn quoted(skill: &str) -> Vec<String> {
    let blocks = skill.split("```").step_by(2);
    let words = blocks.flat_map(|text| text.split('`').skip(1).step_by(2));
    words.map(str::to_owned).collect()
}

#[test]
fn the_skill_names_only_commands_and_options_that_exist() {
    let sealed = Sealed::with(&[]);
    let skill = sealed.run("skill").stdout;
    let mut commands = BTreeSet::new();
    let help = |command: &str| {
        let said = sealed.run(&format!("{command} --help"));
        assert_eq!(said.code, 0, "{command}: {}", said.stderr);
        said.stdout
    };
    let mut check = |command: &str, options: &[String]| {
        let help = help(command);
        for option in options.iter().filter(|word| word.starts_with('-') && *word != "-") {
            let option = option.split('=').next().unwrap();
            assert!(help.contains(option), "mle-star {command} {option}");
        }
        commands.insert(command.to_owned());
    };
    for line in command_lines(&skill) {
        check(&line[0], &line[1..]);
    }
    for words in quoted(&skill).iter().filter_map(|words| words.strip_prefix("mle-star ")) {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        check(&words[0], &words[1..]);
    }
    for command in ["run", "watch", "show", "resume", "list", "check", "doctor", "mcp"] {
        assert!(commands.contains(command), "the file does not explain {command}: {commands:?}");
    }
    // Options that stand alone belong to one of these commands.
    let all: String = commands.iter().map(|command| help(command)).collect();
    for option in quoted(&skill).iter().filter(|word| word.starts_with("--")) {
        let option = option.split([' ', '=']).next().unwrap();
        assert!(all.contains(option), "{option}");
    }
}

#[test]
fn the_skill_is_one_that_agents_read_and_is_written_where_they_look() {
    let sealed = Sealed::with(&[]);
    let said = sealed.run("skill skills");
    assert_eq!((said.code, said.stdout.as_str()), (0, "skills/mle-star/SKILL.md\n"), "{said:?}");
    let skill = sealed.read("skills/mle-star/SKILL.md");
    assert_eq!(skill, sealed.run("skill").stdout);
    let (front, body) = skill.strip_prefix("---\n").unwrap().split_once("\n---\n").unwrap();
    let mut fields = front.lines().filter_map(|line| line.split_once(": "));
    assert_eq!(fields.next(), Some(("name", "mle-star")));
    let (name, about) = fields.next().unwrap();
    // The limit of coding agents for a description.
    assert!(name == "description" && about.len() <= 1024 && !about.contains(": "), "{about}");
    assert!(body.lines().count() < 150, "agents read all of it");
    assert_eq!(sealed.run("skill data/train.csv").code, 2);
}
