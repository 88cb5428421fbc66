//! The licences of everything that is compiled into the program, as their texts demand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::cargo;

/// The texts of all licences, each once, with the packages that it belongs to.
///
/// # Errors
/// Cargo does not tell the dependencies, or a package has no text; in words.
pub fn text(triple: &str) -> Result<String, String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Package { name, folder, licence } in dependencies(triple)? {
        let found = licence_files(&folder);
        let all: Vec<String> = found.iter().filter_map(|file| fs::read_to_string(file).ok()).collect();
        let all = if all.is_empty() {
            vec![format!("{licence} (the package has no file with its text)\n")]
        } else {
            all
        };
        all.into_iter().for_each(|text| texts.entry(text).or_default().push(name.clone()));
    }
    let sections =
        texts.into_iter().map(|(text, names)| format!("{}\n\n{}\n", names.join(", "), text.trim_end()));
    let rule = format!("\n{}\n\n", "-".repeat(80));
    Ok(format!(
        "mle-star contains these packages under these licences.\n{rule}{}",
        sections.collect::<Vec<_>>().join(&rule)
    ))
}

struct Package {
    name: String,
    folder: PathBuf,
    licence: String,
}

/// The packages that the program is compiled from, without those that only build it.
fn dependencies(triple: &str) -> Result<Vec<Package>, String> {
    let run = |line: &str| -> Result<String, String> {
        let output = cargo(line).output().map_err(|error| format!("cargo: {error}"))?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(format!("`cargo {line}` failed: {}", String::from_utf8_lossy(&output.stderr)))
        }
    };
    let line = format!(
        "tree --package mle-star-cli --edges normal,no-proc-macro --prefix none --format {{p}} --target {triple}"
    );
    let tree = run(&line)?;
    let metadata: Value = serde_json::from_str(&run("metadata --format-version 1 --locked")?)
        .map_err(|error| format!("cargo metadata: {error}"))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let package = |package: &Value| {
        // `cargo tree` prints `name vVERSION`, and what follows for proc macros and packages of the workspace.
        let name = format!("{} v{}", text(&package["name"]), text(&package["version"]));
        let is_used = tree.lines().any(|line| {
            line.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
                && !line.contains("(proc-macro)")
        });
        let folder = Path::new(package["manifest_path"].as_str()?).parent()?.to_owned();
        let is_foreign = package["source"].is_string();
        (is_used && is_foreign).then(|| Package { name, folder, licence: text(&package["license"]) })
    };
    Ok(metadata["packages"].as_array().into_iter().flatten().filter_map(package).collect())
}

fn licence_files(folder: &Path) -> Vec<PathBuf> {
    const STARTS: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries
        .filter(|path| path.is_file())
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
            STARTS.iter().any(|start| name.starts_with(start))
        })
        .collect();
    found.sort();
    found
}
