//! Whether scripts can use GPUs, with a driver of our own: a program `nvidia-smi` and a library `libcuda.so.1`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::{Value, json};

use crate::exits::{SCORE, SMALL, SUBMIT, interpreter};
use crate::sealed::Sealed;

/// A machine that has these `nvidia-smi` lines, and the variables that make programs find them.
fn machine(gpus: &str, has_library: bool) -> (Sealed, Vec<(&'static str, String)>) {
    let sealed = Sealed::with(&[("secret", "")]);
    sealed.write("bin/nvidia-smi", format!("#!/bin/sh\nprintf '{gpus}'\n").as_bytes());
    fs::set_permissions(sealed.path("bin/nvidia-smi"), fs::Permissions::from_mode(0o755)).unwrap();
    sealed.write("lib/libcuda.c", include_bytes!("libcuda.c"));
    if has_library {
        let mut compiler = Command::new("cc");
        compiler
            .args(["-shared", "-fPIC", "-o", "libcuda.so.1", "libcuda.c"])
            .current_dir(sealed.path("lib"));
        assert!(compiler.status().unwrap().success());
    }
    let path = format!("{}:{}", sealed.path("bin").display(), std::env::var("PATH").unwrap());
    let library = sealed.path("lib").display().to_string();
    (sealed, vec![("PATH", path), ("LD_LIBRARY_PATH", library)])
}

const H100: &str = "0, H100, 81559 MiB, GPU-a\\n";

#[test]
fn doctor_starts_cuda_inside_the_isolation() {
    let check = |gpus: &str, has_library: bool, more: &[(&'static str, &str)], expected: &Value| {
        let (sealed, mut environment) = machine(gpus, has_library);
        let secret = sealed.path("secret").display().to_string();
        environment.extend(more.iter().map(|(name, value)| (*name, value.replace("SECRET", &secret))));
        let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let said = sealed.run_with("doctor --json", &environment);
        let found: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(found["gpus"], *expected, "{said:?}");
        let lines = sealed.run_with("doctor", &environment).stdout;
        let says = expected[0]["says"].as_str().unwrap_or("none");
        let line = lines.lines().find(|line| line.starts_with("gpus:")).unwrap();
        assert!(line.ends_with(says), "{lines}");
    };
    let works =
        |says: &str| json!([{"name": "Fake H100", "memory_mb": 81920, "works_inside": true, "says": says}]);
    let fails =
        |says: &str| json!([{"name": "H100", "memory_mb": 81559, "works_inside": false, "says": says}]);
    check("", true, &[], &json!([]));
    check(H100, true, &[], &works("CUDA 13.0 starts"));
    let refused = "cuInit returns 304 (OS call failed)";
    check(
        H100,
        true,
        &[("FAKE_CUDA_FILE", "SECRET")],
        &fails(&format!("{refused}; without isolation it works")),
    );
    let neither = "it does not work without isolation either";
    check(
        H100,
        true,
        &[("FAKE_CUDA", "999")],
        &fails(&format!("cuInit returns 999 (OS call failed); {neither}")),
    );
    let missing = "libcuda.so.1: cannot open shared object file: No such file or directory";
    check(H100, false, &[], &fails(&format!("{missing}; {neither}")));
}

#[test]
fn a_run_says_first_whether_scripts_can_use_the_gpu() {
    let check = |number: &str, expected: &str| {
        let (sealed, mut environment) = machine(H100, true);
        environment.push(("FAKE_CUDA", number.to_owned()));
        let environment: Vec<_> = environment.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let script = format!("grep -q cuInit \"$1\" && exec python3 \"$1\"; {SUBMIT}; {SCORE}");
        let python = interpreter(&sealed, &script);
        let line = format!("run data --run-id r --set python={python} {SMALL}");
        let said = sealed.run_with(&line, &environment);
        assert_eq!(said.code, 0, "{said:?}");
        let (first, _) = said.stderr.split_once("Phase 1").unwrap_or_else(|| panic!("{said:?}"));
        assert!(first.contains(expected), "{said:?}");
    };
    check("0", "\ngpu: Fake H100 (80 GiB): scripts can use it: CUDA 13.0 starts\n");
    check("100", "\ngpu: H100 (79 GiB): scripts cannot use it: cuInit returns 100");
}
