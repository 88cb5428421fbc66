//! A look at a shell command before an agent runs it.
//!
//! This keeps a well-meaning agent within its folder and stops the commands known to do harm. It is no
//! sandbox: what a program started by the command writes is not seen here.

use std::path::{Component, Path, PathBuf};

/// Commands whose arguments are written to, all of them.
const WRITES_ALL: [&str; 14] = [
    "chgrp", "chmod", "chown", "dd", "mkdir", "mv", "rm", "rmdir", "shred", "tee", "touch", "truncate",
    "unlink", "mktemp",
];
/// Commands that write to their last argument.
const WRITES_LAST: [&str; 5] = ["cp", "install", "ln", "rsync", "scp"];
/// Commands that change software of the machine by these words.
const INSTALLS: [&str; 9] = ["apt", "apt-get", "conda", "dnf", "mamba", "npm", "pip", "pip3", "yum"];
/// Words before the command itself.
const PREFIXES: [&str; 9] = ["builtin", "command", "env", "exec", "nice", "nohup", "sudo", "time", "xargs"];
/// Writing there changes nothing.
const SINKS: [&str; 4] = ["/dev/null", "/dev/stderr", "/dev/stdout", "/dev/tty"];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    /// `>`, `>>`, `>|` and the like.
    Into,
    /// What ends a simple command.
    End,
}

/// Why the command may not run in `folder`, if so; `blocked` are parts of command lines.
pub(super) fn objection(command: &str, blocked: &[String], folder: &Path) -> Option<String> {
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = one_line(command);
    if let Some(blocked) = blocked.iter().find(|blocked| plain.contains(&one_line(blocked))) {
        return Some(format!("`{blocked}` is not allowed here"));
    }
    let tokens = tokens(command);
    tokens.split(|token| *token == Token::End).find_map(|simple| objection_to(simple, folder))
}

fn objection_to(simple: &[Token], folder: &Path) -> Option<String> {
    let is_target = |position: usize| position > 0 && simple.get(position - 1) == Some(&Token::Into);
    let words = simple.iter().enumerate().filter_map(|(position, token)| match token {
        Token::Word(word) if !is_target(position) => Some(word.as_str()),
        _ => None,
    });
    redirected(simple, folder).or_else(|| by_command(&words.collect::<Vec<_>>(), folder))
}

fn redirected(simple: &[Token], folder: &Path) -> Option<String> {
    simple.windows(2).find_map(|pair| match pair {
        [Token::Into, Token::Word(target)] => outside(target, folder),
        _ => None,
    })
}

fn by_command(words: &[&str], folder: &Path) -> Option<String> {
    let is_prefix = |word: &&str| PREFIXES.contains(word) || word.contains('=') && !word.starts_with('-');
    let words: Vec<&str> = words.iter().copied().skip_while(is_prefix).collect();
    let (command, arguments) = words.split_first()?;
    let name = command.rsplit('/').next().unwrap_or(command);
    let plain = || arguments.iter().filter(|word| !word.starts_with('-'));
    let any_outside = |mut targets: Box<dyn Iterator<Item = &&str> + '_>| {
        targets.find_map(|target| outside(target.strip_prefix("of=").unwrap_or(target), folder))
    };
    match name {
        "cd" | "pushd" => any_outside(Box::new(plain())),
        "dd" => any_outside(Box::new(plain().filter(|word| word.starts_with("of=")))),
        "sed" | "perl" if arguments.iter().any(|word| word.starts_with("-i")) => {
            any_outside(Box::new(plain()))
        }
        name if WRITES_ALL.contains(&name) => any_outside(Box::new(plain())),
        name if WRITES_LAST.contains(&name) => any_outside(Box::new(plain().next_back().into_iter())),
        name if INSTALLS.contains(&name) && arguments.contains(&"install") => {
            Some("nothing may be installed here: use what is there".to_owned())
        }
        _ => None,
    }
}

/// Why nothing may be written to `target`, if so.
fn outside(target: &str, folder: &Path) -> Option<String> {
    let is_own_variable = |name: &str| {
        let rest = target.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| format!(".{rest}"))
    };
    let target =
        ["$PWD", "${PWD}"].into_iter().find_map(is_own_variable).unwrap_or_else(|| target.to_owned());
    let is_unknown = target.starts_with('~') || target.starts_with('$') || target.starts_with('`');
    let is_inside = SINKS.contains(&target.as_str()) || plain(&folder.join(&target)).starts_with(folder);
    (is_unknown || !is_inside)
        .then(|| format!("{target} is outside the working directory: write to relative paths only"))
}

/// The path with its dots worked out, links not followed.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
        plain
    })
}

/// Words without their quotes, redirections into files, ends of simple commands.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harm_is_refused_and_work_is_not() {
        let blocked = mle_star::config::Config::default().blocked_commands;
        let check = |command: &str, is_allowed: bool| {
            let objection = objection(command, &blocked, Path::new("/work/room-1"));
            assert_eq!(objection.is_none(), is_allowed, "{command}: {objection:?}");
        };
        for command in [
            "ls -la input",
            "python3 -c 'print(1 > 0)'",
            "python3 solution.py > out.txt 2>&1",
            "python3 x.py 2>/dev/null | head -5",
            "cat /etc/os-release",
            "mkdir -p a/b && cp input/train.csv a/b/",
            "cp /usr/share/x ./here",
            "cd input && head -3 train.csv",
            "echo 'rm x > /etc/passwd'",
            "rm -rf ./tmp",
            "touch $PWD/x",
            "touch /work/room-1/x",
            "sed 's/a/b/' /etc/hosts",
            "grep -r install input",
            "X=1 python3 x.py",
        ] {
            check(command, true);
        }
        for command in [
            "rm -rf /",
            "rm  -rf   /home",
            "mkfs.ext4 /dev/sda1",
            "dd if=/dev/zero of=x",
            ":(){ :|:& };:",
            "echo x > /etc/passwd",
            "echo x >> ../other",
            "echo x >/tmp/y",
            "python3 x.py &> /tmp/log",
            "touch ~/x",
            "rm $HOME/x",
            "cp a /usr/bin/a",
            "mv a ../a",
            "cd / && touch x",
            "ls; rm /work/other",
            "ls\nrm /work/other",
            "$(rm /work/other)",
            "sudo rm /work/other",
            "FOO=1 rm /work/other",
            "sed -i s/a/b/ /etc/hosts",
            "tee /etc/x < y",
            "pip install torch",
            "/bin/rm /work/other",
            "rm \"/work/oth\"er",
        ] {
            check(command, false);
        }
    }
}
