//! Checks a shell command before an agent runs it.
//!
//! The check keeps a well-meaning agent in its folder and stops commands that are known to do harm. It is not a
//! sandbox: it does not see what the programs that a command starts write.
//!
//! The tokenizer is our own: `shlex` and `shell-words` know neither operators nor redirections, and a full shell
//! grammar is many times the size of this file.

use std::path::Path;

use crate::paths::resolve;

/// Commands that write to all of their arguments.
const WRITES_ALL: [&str; 13] = [
    "chgrp", "chmod", "chown", "mkdir", "mv", "rm", "rmdir", "shred", "tee", "touch", "truncate", "unlink",
    "mktemp",
];
/// Commands that write to their last argument.
const WRITES_LAST: [&str; 5] = ["cp", "install", "ln", "rsync", "scp"];
/// Commands that install software.
const INSTALLS: [&str; 10] = ["apt", "apt-get", "conda", "dnf", "mamba", "npm", "pip", "pipx", "uv", "yum"];
/// What these do to the software that is installed.
const CHANGES: [&str; 5] = ["add", "install", "remove", "sync", "uninstall"];
/// Words that may precede a command.
const PREFIXES: [&str; 20] = [
    "!", "builtin", "command", "do", "elif", "else", "env", "exec", "if", "ionice", "nice", "nohup",
    "setsid", "stdbuf", "sudo", "then", "time", "timeout", "until", "while",
];
/// Shells, which run a command given as text.
const SHELLS: [&str; 5] = ["bash", "dash", "ksh", "sh", "zsh"];
/// Parts of paths that lead to secrets.
const SECRETS: [&str; 2] = [ENVIRON, ".claude"];
const ENVIRON: &str = "/environ";
/// Files that anyone may write to.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `>`, `>>`, `>|` and the like.
    Into,
    /// An operator that ends a simple command.
    End,
}

/// Why the command may not run in `folder`; `None` if it may.
pub(crate) fn objection(command: &str, blocked: &[String], folder: &Path) -> Option<String> {
    if let Some(secret) = SECRETS.iter().find(|secret| leads_to(command, secret, folder)) {
        return Some(format!("{secret} may hold secrets and cannot be read"));
    }
    let nested = command.match_indices("$(").map(|(at, start)| &command[at + start.len()..]);
    std::iter::once(command).chain(nested).find_map(|command| {
        let tokens = tokens(command);
        if let Some(blocked) = blocked.iter().find(|blocked| contains(&tokens, blocked)) {
            return Some(format!("`{blocked}` is blocked"));
        }
        let mut simple = tokens.split(|token| *token == Token::End);
        simple.find_map(|simple| objection_to(simple, blocked, folder))
    })
}

/// Whether the command has this part of a path, apart from the path of the `folder` itself. Names that are longer than
/// `environ` are other files.
fn leads_to(command: &str, secret: &str, folder: &Path) -> bool {
    let climbs = command.contains("..");
    let rest = if climbs { command.to_owned() } else { command.replace(&*folder.to_string_lossy(), " ") };
    let goes_on = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
    rest.match_indices(secret)
        .any(|(at, _)| secret != ENVIRON || !rest[at + secret.len()..].starts_with(goes_on))
}

/// Whether the tokens of a blocked command occur among those of a command. The last one may be the beginning of a
/// word (`mkfs` blocks `mkfs.ext4`) unless it is a path (`rm -rf /` blocks nothing below `/`).
fn contains(command: &[Token], blocked: &str) -> bool {
    let blocked = tokens(blocked);
    let matches = |(position, (token, blocked_token)): (usize, (&Token, &Token))| match (token, blocked_token)
    {
        // A program may be named by its path.
        (Token::Word(word), Token::Word(name)) if !name.ends_with('/') => {
            let base = word.rsplit('/').next().unwrap_or(word);
            let is_last = position + 1 == blocked.len();
            [word.as_str(), base].iter().any(|word| word == name || is_last && word.starts_with(name))
        }
        (token, blocked_token) => token == blocked_token,
    };
    let is_blocked = |part: &[Token]| part.iter().zip(&blocked).enumerate().all(matches);
    !blocked.is_empty() && command.windows(blocked.len()).any(is_blocked)
}

fn objection_to(simple: &[Token], blocked: &[String], folder: &Path) -> Option<String> {
    let is_target = |position: usize| position > 0 && simple.get(position - 1) == Some(&Token::Into);
    let words = simple.iter().enumerate().filter_map(|(position, token)| match token {
        Token::Word(word) if !is_target(position) => Some(word.as_str()),
        _ => None,
    });
    redirected(simple, folder).or_else(|| by_command(&words.collect::<Vec<_>>(), blocked, folder))
}

fn redirected(simple: &[Token], folder: &Path) -> Option<String> {
    simple.windows(2).find_map(|pair| match pair {
        [Token::Into, Token::Word(target)] => outside(target, folder),
        _ => None,
    })
}

fn by_command(words: &[&str], blocked: &[String], folder: &Path) -> Option<String> {
    // `timeout 5`, `nice -n 5`, `X=1` and the like precede the command.
    let is_before = |word: &&str| {
        PREFIXES.contains(word) || word.starts_with('-') || word.contains('=') || word.parse::<f64>().is_ok()
    };
    let words: Vec<&str> = words.iter().copied().skip_while(is_before).collect();
    let (command, arguments) = words.split_first()?;
    let name = command.rsplit('/').next().unwrap_or(command);
    if name.starts_with("python")
        && let Some(module) = module(arguments)
    {
        return by_command(&module, blocked, folder);
    }
    let has = |option: fn(&str) -> bool| arguments.iter().any(|word| option(word));
    let plain = || arguments.iter().copied().filter(|word| !word.starts_with('-'));
    let all = || plain().find_map(|target| outside(target, folder));
    match name {
        "xargs" => by_command(arguments, blocked, folder),
        "cd" | "pushd" if arguments.is_empty() => outside("~", folder),
        "cd" | "pushd" => all(),
        "dd" => plain().find_map(|word| outside(word.strip_prefix("of=")?, folder)),
        "find" if has(|word| word == "-delete" || word.starts_with("-exec")) => all(),
        "sed" | "perl"
            if has(|word| {
                let is_short = word.starts_with('-') && !word.starts_with("--");
                word.starts_with("--in-place") || is_short && word.contains('i')
            }) =>
        {
            all()
        }
        "cp" | "mv" | "ln" | "install" if has(|word| word == "-t" || word.starts_with("--target")) => all(),
        name if SHELLS.contains(&name) && has(|word| word == "-c") => {
            plain().find_map(|command| objection(command, blocked, folder))
        }
        name if WRITES_ALL.contains(&name) => all(),
        name if WRITES_LAST.contains(&name) => plain().next_back().and_then(|target| outside(target, folder)),
        name if installs(name, arguments) => {
            Some("installing software is not allowed: use what is installed".to_owned())
        }
        _ => None,
    }
}

fn installs(name: &str, arguments: &[&str]) -> bool {
    // `pip3.12` is `pip`.
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let changes = || arguments.iter().any(|word| CHANGES.contains(word));
    name == "ensurepip" || INSTALLS.contains(&name) && changes()
}

/// The module that `python -m` runs, with its arguments.
fn module<'a>(arguments: &[&'a str]) -> Option<Vec<&'a str>> {
    let at = arguments.iter().position(|word| word.starts_with("-m") || word.ends_with(".py"))?;
    let attached = arguments[at].strip_prefix("-m")?;
    let attached = Some(attached).filter(|name| !name.is_empty());
    Some(attached.into_iter().chain(arguments[at + 1..].iter().copied()).collect())
}

/// Why `target` may not be written; `None` if it may.
fn outside(target: &str, folder: &Path) -> Option<String> {
    let is_own_variable = |name: &str| {
        let rest = target.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!(".{rest}"))
    };
    let target =
        ["$PWD", "${PWD}"].into_iter().find_map(is_own_variable).unwrap_or_else(|| target.to_owned());
    let is_unknown = target.starts_with('~') || target.starts_with('$') || target.starts_with('`');
    if SINKS.contains(&target.as_str()) {
        return None;
    }
    // The data may be links to the user's own files.
    let (reached, folder) = (resolve(&folder.join(&target)), resolve(folder));
    let is_data = reached.starts_with(folder.join("input")) && reached != folder.join("input");
    (is_unknown || is_data || !reached.starts_with(&folder))
        .then(|| format!("{target} is data or outside the working directory: write to relative paths"))
}

/// Words without their quotes, output redirections and ends of simple commands.
fn tokens(command: &str) -> Vec<Token> {
    let (mut tokens, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut characters = command.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (Some(open), _) if character == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(character);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(characters.next()),
            (Some(_), _) => word.get_or_insert_default().push(character),
            (None, ' ' | '\t') => tokens.extend(word.take().map(Token::Word)),
            // `${PWD}` is no block.
            (None, '$') if is_variable(characters.clone()) => {
                let word = word.get_or_insert_default();
                word.push('$');
                word.extend(characters.by_ref().take_while(|letter| *letter != '}'));
                word.push('}');
            }
            (None, '\n' | ';' | '|' | '(' | ')' | '{' | '}' | '`') => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::End);
            }
            (None, '&') if characters.peek() == Some(&'>') => tokens.extend(word.take().map(Token::Word)),
            (None, '&') => {
                tokens.extend(word.take().map(Token::Word));
                tokens.push(Token::End);
            }
            (None, '>') => {
                // A number before it is the descriptor.
                let descriptor = word.take().filter(|word| !word.chars().all(|digit| digit.is_ascii_digit()));
                tokens.extend(descriptor.map(Token::Word));
                while matches!(characters.peek(), Some('>' | '|')) {
                    characters.next();
                }
                tokens.push(Token::Into);
            }
            (None, _) => word.get_or_insert_default().push(character),
        }
    }
    tokens.extend(word.map(Token::Word));
    tokens
}

/// Whether these characters begin with `{NAME}`.
fn is_variable(mut rest: impl Iterator<Item = char>) -> bool {
    let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
    rest.next() == Some('{') && rest.find(|letter| !is_name(letter)) == Some('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_refused_and_work_is_not() {
        let blocked = mle_star_domain::config::Config::default().blocked_commands;
        let check = |command: &str, is_allowed: bool| {
            let objection = objection(command, &blocked, Path::new("/home/x/.claude/room-1"));
            assert_eq!(objection.is_none(), is_allowed, "{command}: {objection:?}");
        };
        for command in [
            "python3 -c 'print(1 > 0)'",
            "python3 solution.py > out.txt 2>&1",
            "python3 x.py 2>/dev/null | head -5",
            "cp /usr/share/x ./here",
            "echo 'rm x > /etc/passwd'",
            "rm -rf ./tmp",
            "sed 's/a/b/' /etc/hosts",
            "for f in input/*.csv; do head -1 $f; done",
            "bash -c 'ls input'",
            // The path of the folder is no secret.
            "rm -rf /home/x/.claude/room-1/tmp",
            "echo 'rm -rf /' > notes.txt",
            "grep 'dd if=' notes.txt",
            "head input/environment.csv",
            "python3 -m json.tool x.json",
            "python3 -m pip list",
        ] {
            check(command, true);
        }
        for command in [
            "rm -rf /",
            "rm -fr /",
            "rm -rf /home/x/.claude/room-1/..",
            "bash -c 'rm -rf /'",
            "python3 x.py | dd if=/dev/zero of=x",
            "mkfs.ext4 /dev/sda1",
            "dd if=/dev/zero of=x",
            ":(){ :|:& };:",
            "echo x > /etc/passwd",
            "python3 x.py &> /tmp/log",
            "cp a /usr/bin/a",
            "cd / && touch x",
            "$(rm /work/other)",
            "sudo rm /work/other",
            "sed -i s/a/b/ /etc/hosts",
            "tee /etc/x < y",
            "pip install torch",
            "python3 -m pip install torch",
            "python3.11 -m ensurepip",
            "rm \"/work/oth\"er",
            "env -i rm /work/other",
            "echo \"$(rm /work/other)\"",
            "find / -delete",
            "cd; rm -rf *",
            "touch input/train.csv",
            "touch ~/x",
            "ls\nrm /work/other",
            "timeout 5 rm /work/other",
            "cat /proc/$PPID/environ",
            "cat ~/.claude/.credentials.json",
            "cat /home/x/.claude/.credentials.json",
        ] {
            check(command, false);
        }
    }
}
