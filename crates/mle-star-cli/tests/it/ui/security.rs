//! Access control and response headers.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use super::served::Served;
use crate::sealed::{Sealed, TASK};

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; \
                      connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

#[test]
fn every_answer_tells_browsers_to_be_careful() {
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let check = |path: &str, host: Option<&str>, status: u16| {
        let headers: Vec<(&str, &str)> = host.into_iter().map(|host| ("Host", host)).collect();
        let answered = page.ask("GET", path, &headers, "");
        assert_eq!(answered.status, status, "{path}: {answered:?}");
        for (name, value) in [
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answered.header(name), Some(value), "{path}: {answered:?}");
        }
        for inline in ["style=", "onclick=", "onload=", "<style", "javascript:"] {
            assert!(!answered.body.contains(inline), "{path}: {inline}");
        }
    };
    check("/", None, 200);
    check("/ui.css", None, 200);
    check("/live.js", None, 200);
    check("/no/such/page", None, 404);
    check("/runs/none", None, 404);
    check("/", Some("evil.org"), 403);
    check("/", Some(&format!("evil.org:{}", page.port)), 403);
    check("/", Some("127.0.0.1:1"), 403);
    check("/", Some(&format!("localhost:{}", page.port)), 200);
}

#[test]
fn forms_of_other_sites_do_nothing() {
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let ours = format!("http://127.0.0.1:{}", page.port);
    let check = |headers: &[(&str, &str)], is_refused: bool| {
        for path in ["/runs/none/stop", "/runs/none/note", "/delete"] {
            let answered = page.ask("POST", path, headers, "text=x&run=none");
            assert_eq!(answered.status == 403, is_refused, "{path}, {headers:?}: {answered:?}");
        }
    };
    check(&[], true);
    check(&[("Origin", "http://evil.org")], true);
    check(&[("Origin", "null")], true);
    check(&[("Origin", &ours), ("Sec-Fetch-Site", "cross-site")], true);
    check(&[("Origin", &ours), ("Sec-Fetch-Site", "same-site")], true);
    check(&[("Origin", &ours), ("Sec-Fetch-Site", "same-origin")], false);
    check(&[("Origin", &ours)], false);
}

#[test]
fn looking_at_a_folder_executes_nothing_that_it_names() {
    let sealed = Sealed::with(&[]);
    for (file, text) in TASK {
        sealed.write(&file.replace("data/", "other/"), text.as_bytes());
    }
    let program = sealed.path("program");
    sealed.write("program", b"#!/bin/sh\ntouch \"$0.executed\"; echo 9.9.9\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.display();
    let names = format!("claude_path: {program}\ncodex_path: {program}\npython: {program}\n");
    sealed.write("data/config.yaml", names.as_bytes());
    sealed.write("data/task.yaml", b"data_dir: .\noutput_dir: ../made\n");
    let mut command = sealed.command("ui --json --port 0");
    command.env("ANTHROPIC_API_KEY", "k").env("CODEX_API_KEY", "k");
    let page = Served::started(command);
    let check = |path: &str, site: Option<&str>, is_looked_at: bool| {
        let headers: Vec<(&str, &str)> = site.into_iter().map(|site| ("Sec-Fetch-Site", site)).collect();
        let body = page.ask("GET", path, &headers, "").body;
        assert_eq!(body.contains("The inferred task"), is_looked_at, "{path} {site:?}: {body}");
        assert_eq!(body.contains("names: <bdi>"), is_looked_at, "{path} {site:?}: {body}");
        assert!(
            !sealed.path("program.executed").exists() && !sealed.path("made").exists(),
            "{path} {site:?}"
        );
    };
    let named = format!("/start?folder=other&settings=claude_path%3D{program}");
    let codex = "/start?folder=data&agents=codex&settings=model%3Dm";
    for path in ["/start?folder=data", "/start?folder=data&agents=claude", codex, &named] {
        check(path, None, true);
        check(path, Some("same-origin"), true);
        check(path, Some("none"), true);
        check(path, Some("cross-site"), false);
        check(path, Some("same-site"), false);
    }
}

#[test]
fn others_need_the_token_that_was_printed() {
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "--host 0.0.0.0");
    let token = page.url.split_once("?token=").unwrap().1;
    let get = |path: &str| page.ask("GET", path, &[("Cookie", "")], "");
    assert_eq!(get("/").status, 403);
    assert_eq!(get("/?token=wrong").status, 403);
    assert_eq!(get(&format!("/?token={}", "0".repeat(token.len()))).status, 403);
    let let_in = get(&format!("/?token={token}"));
    assert_eq!((let_in.status, let_in.header("location")), (303, Some("/")), "{let_in:?}");
    let cookie = let_in.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    assert_eq!(page.ask("GET", "/", &[("Cookie", &format!("a=b; {cookie}"))], "").status, 200);
    assert_eq!(page.ask("GET", "/", &[("Cookie", &format!("{cookie}0"))], "").status, 403);
    let named = |host: &str| page.ask("GET", "/", &[("Host", host), ("Cookie", cookie)], "").status;
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for host in ["10.0.0.1", machine.trim()] {
        assert_eq!(named(&format!("{host}:{}", page.port)), 200, "{host}");
    }
    assert_eq!(named("evil.org"), 403);
}

#[test]
fn every_request_needs_the_token() {
    let sealed = Sealed::with(&[]);
    let page = Served::of(&sealed, "");
    let none = [("Cookie", "")];
    assert_eq!(page.ask("GET", "/", &none, "").status, 403);
    let origin = format!("http://127.0.0.1:{}", page.port);
    assert_eq!(page.ask("POST", "/start", &[("Origin", &origin), none[0]], "folder=data").status, 403);
    let let_in = page.ask("GET", &format!("/?text=a&{}", page.token()), &none, "");
    assert_eq!((let_in.status, let_in.header("location")), (303, Some("/?text=a")), "{let_in:?}");
}

#[test]
fn no_id_leads_out_of_the_runs_directory() {
    let sealed = Sealed::with(&[("runs/in/task.json", "{}"), ("out/task.json", "{}"), ("task.json", "{}")]);
    std::os::unix::fs::symlink(sealed.path("out"), sealed.path("runs/link")).unwrap();
    let page = Served::of(&sealed, "");
    for id in
        ["..", "%2e%2e", "..%2fout", "%2e%2e%2fout", "in%2f..%2f..%2fout", "link", ".", "", "%00", "..%5cout"]
    {
        for path in ["", "/events", "/stop", "/note", "/fork", "/resume", "/logs/x", "/files/solution.py"] {
            let answered = page.get(&format!("/runs/{id}{path}"));
            assert_eq!(answered.status, 404, "{id}{path}: {answered:?}");
        }
    }
    let absolute = sealed.path("out").display().to_string().replace('/', "%2f");
    assert_eq!(page.get(&format!("/runs/{absolute}")).status, 404);
    let list = page.get("/").body;
    assert!(list.contains("/runs/in\"") && !list.contains("/runs/link\""), "{list}");
}

#[test]
fn a_port_in_use_is_reported() {
    let sealed = Sealed::with(&[]);
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port();
    let said = sealed.run(&format!("ui --port {port}"));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.starts_with(&format!("error: port {port} of 127.0.0.1 is taken")), "{said:?}");
    assert!(said.stderr.contains("hint: choose another port with --port"), "{said:?}");
    let said = sealed.run("ui --port 0 --host 192.0.2.1");
    assert!(said.code == 2 && said.stderr.contains("192.0.2.1"), "{said:?}");
}

#[test]
fn data_is_offered_only_below_the_folder_of_the_page_and_only_to_it() {
    let table = "a,b\n1,2\n";
    let sealed = Sealed::with(&[
        ("deep/in/table.csv", table),
        (".hidden/table.csv", table),
        ("runs/r/journal.lock", ""),
        ("deep/run/journal.db", ""),
    ]);
    let outside = Sealed::with(&[("secret.csv", table)]);
    std::os::unix::fs::symlink(outside.path(""), sealed.path("link")).unwrap();
    std::os::unix::fs::symlink(outside.path("secret.csv"), sealed.path("secret.csv")).unwrap();
    let page = Served::of(&sealed, "");
    let offered = |path: &str| page.get(path).body;
    let top = offered("/start");
    assert!(top.contains("within=data\"") && top.contains("within=deep\""), "{top}");
    let deep = offered("/start?within=deep");
    assert!(deep.contains("within=deep/in\"") && !deep.contains("deep/run"), "{deep}");
    assert!(offered("/start?within=deep/in").contains("folder=deep/in/table.csv\""));
    for above in ["..", "%2e%2e", "deep%2F..%2F..", "%2F", "link", "runs%2F..%2F.."] {
        let body = offered(&format!("/start?within={above}"));
        assert!(body.contains("within=data\""), "{above}: {body}");
        for part in ["secret", "within=link", ".hidden", "within=runs"] {
            assert!(!body.contains(part), "{above}, {part}: {body}");
        }
    }
    let other = page.ask("GET", "/start", &[("Sec-Fetch-Site", "cross-site")], "").body;
    assert!(!other.contains("within="), "{other}");
    for path in ["/start/upload", "/start/example"] {
        let origin = [("Origin", "http://evil.org")];
        assert_eq!(page.ask("POST", path, &origin, "").status, 403, "{path}");
    }
    assert!(!sealed.path("uploads").exists());
}
