//! A served page, and direct requests to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::sealed::Sealed;

/// `mle-star ui` on a free port; ends with the test.
pub struct Served {
    child: Child,
    pub url: String,
    pub port: u16,
}

/// An answer.
#[derive(Debug)]
pub struct Answered {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Served {
    pub fn of(sealed: &Sealed, options: &str) -> Self {
        Self::started(sealed.command(&format!("ui --json --port 0 {options}")))
    }

    pub fn started(mut command: std::process::Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let url = ready["url"].as_str().unwrap().to_owned();
        let port = url.split([':', '/']).nth(4).unwrap().parse().unwrap();
        Self { child, url, port }
    }

    /// The address of a path, with the token.
    pub fn at(&self, path: &str) -> String {
        let join = if path.contains('?') { '&' } else { '?' };
        format!("http://127.0.0.1:{}{path}{join}{}", self.port, self.token())
    }

    /// The token as a part of an address.
    pub fn token(&self) -> &str {
        self.url.split_once('?').unwrap().1
    }

    pub fn get(&self, path: &str) -> Answered {
        self.ask("GET", path, &[], "")
    }

    /// A form as our own page sends it.
    pub fn post(&self, path: &str, form: &str) -> Answered {
        let origin = format!("http://127.0.0.1:{}", self.port);
        self.ask("POST", path, &[("Origin", &origin), ("Sec-Fetch-Site", "same-origin")], form)
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// A request with these headers; a `Host` among them replaces the right one.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], form: &str) -> Answered {
        let mut stream = self.stream(method, path, headers, form);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answered { status, head: head.to_owned(), body: body.to_owned() }
    }

    /// Sends a request without reading the answer yet.
    pub fn stream(&self, method: &str, path: &str, headers: &[(&str, &str)], form: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            head.push_str(&format!("Host: 127.0.0.1:{}\r\n", self.port));
        }
        if !headers.iter().any(|(name, _)| *name == "Cookie") {
            let token = self.token().trim_start_matches("token=");
            head.push_str(&format!("Cookie: mle_star_token_{}={token}\r\n", self.port));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let kind = "Content-Type: application/x-www-form-urlencoded";
        write!(stream, "{head}{kind}\r\nContent-Length: {}\r\n\r\n{form}", form.len()).unwrap();
        stream
    }

    /// Ends only the page.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Answered {
    pub fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
