//! Chromium, driven through its driver by the WebDriver protocol: JSON over HTTP, one request at a time.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The timeout for anything to appear.
const PATIENCE: Duration = Duration::from_secs(30);
/// The key of element IDs.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The width of a desktop window in pixels.
pub const DESK: u32 = 1280;
/// The width of a window in pixels that has room for a list and what is opened beside it.
pub const WIDE: u32 = 1800;
/// The width of a phone's window in pixels.
pub const PHONE: u32 = 360;
/// How long a script in a page may take, in milliseconds: an audit of a long page, on a busy machine.
const SCRIPT_TIME: u32 = 480_000;
/// The longest page whose whole picture is taken, in pixels.
const LONGEST: u64 = 6000;

/// One browser with one window; ends with the test.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    /// Holds its profile.
    _profile: tempfile::TempDir,
}

impl Browser {
    pub fn start() -> Self {
        let (driver, port) = (0..5).find_map(|_| started_driver()).expect("the driver does not start");
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Self { driver, port, session: String::new(), _profile: profile };
        let answer = browser.ask("POST", "/session", &browser.wanted());
        browser.session = answer["sessionId"].as_str().unwrap().to_owned();
        browser.tell("timeouts", &json!({"script": SCRIPT_TIME, "pageLoad": 60_000}));
        browser
    }

    /// A headless browser without background requests. Root cannot use the sandbox, and every page is ours.
    fn wanted(&self) -> Value {
        let profile = format!("--user-data-dir={}", self._profile.path().display());
        let arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--disable-component-update",
            "--no-first-run",
            "--hide-scrollbars",
            "--window-size=1280,900",
            &profile,
        ];
        let options = json!({"binary": variable("MLE_STAR_TEST_CHROMIUM"), "args": arguments});
        json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }}})
    }

    /// Opens an address and waits until it is loaded.
    pub fn open(&self, url: &str) {
        self.tell("url", &json!({"url": url}));
    }

    /// Makes every page opened from now on run a script before its own.
    pub fn run_first(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", &json!({"source": script}));
    }

    /// The value that JavaScript code `return`s.
    pub fn run(&self, script: &str) -> Value {
        self.tell("execute/sync", &json!({"script": script, "args": []}))
    }

    /// The value that JavaScript code passes to `done`.
    fn run_until_done(&self, script: &str) -> Value {
        let script = format!("const done = arguments[arguments.length - 1]; {script}");
        self.tell("execute/async", &json!({"script": script, "args": []}))
    }

    /// Waits until an expression is true.
    pub fn until(&self, expression: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.run(&format!("return !!({expression})")) != true {
            let shown: String = self.text("main").chars().take(2000).collect();
            assert!(Instant::now() < deadline, "never true: {expression}\n{}\n{shown}", self.path());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the element of a selector shows this text.
    pub fn until_shown(&self, selector: &str, part: &str) {
        let (selector, part) = (json!(selector), json!(part));
        self.until(&format!(
            "(document.querySelector({selector}) || {{innerText: ''}}).innerText.includes({part})"
        ));
    }

    /// The text of the first element that a selector finds, as it is shown.
    pub fn text(&self, selector: &str) -> String {
        let script = format!(
            "const found = document.querySelector({}); return found ? found.innerText : ''",
            json!(selector)
        );
        self.run(&script).as_str().unwrap().to_owned()
    }

    /// Clicks on the element of a selector, which must be visible.
    pub fn click(&self, selector: &str) {
        // An update of a section replaces its elements.
        let clicked = (0..10).any(|_| {
            let path = format!("/session/{}/element/{}/click", self.session, self.element(selector));
            let value = self.answer("POST", &path, &json!({}));
            let is_gone = value["error"] == "stale element reference";
            assert!(value["error"].is_null() || is_gone, "{selector}: {value}");
            !is_gone
        });
        assert!(clicked, "{selector} is never still");
    }

    /// Replaces the value of a field.
    pub fn fill(&self, selector: &str, text: &str) {
        let element = self.element(selector);
        self.tell(&format!("element/{element}/clear"), &json!({}));
        self.tell(&format!("element/{element}/value"), &json!({"text": text}));
    }

    /// Chooses an option of a list by its value.
    pub fn choose(&self, selector: &str, value: &str) {
        self.click(&format!("{selector} option[value=\"{value}\"]"));
    }

    /// Presses a key, a character of the WebDriver protocol, in the element that has the focus.
    pub fn press(&self, key: char) {
        let active = self.run("return document.activeElement");
        let active = active[ELEMENT].as_str().unwrap();
        self.tell(&format!("element/{active}/value"), &json!({"text": key.to_string()}));
    }

    fn element(&self, selector: &str) -> String {
        let found = self.tell("element", &json!({"using": "css selector", "value": selector}));
        found[ELEMENT].as_str().unwrap().to_owned()
    }

    /// The path and query of the page that is open.
    pub fn path(&self) -> String {
        self.run("return location.pathname + location.search").as_str().unwrap().to_owned()
    }

    /// Checks the page that is open in light and dark, wide and narrow: no accessibility violation, nothing wider
    /// than the window, no error on the console. Saves a screenshot of each.
    pub fn audit(&self, name: &str) {
        self.audit_as(name, &[("light", DESK), ("light", PHONE), ("dark", DESK), ("dark", PHONE)]);
    }

    /// Checks only some colour schemes and widths, because the audit of a page of one megabyte takes a minute.
    pub fn audit_as(&self, name: &str, looks: &[(&str, u32)]) {
        self.bring_audit();
        for &(scheme, width) in looks {
            let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
            self.devtools("Emulation.setEmulatedMedia", &media);
            self.resize(width, 900);
            let at = format!("{name}, {scheme}, {width} px");
            let needed = self.run("return document.documentElement.scrollWidth").as_u64().unwrap();
            self.picture(&format!("{name}-{scheme}-{width}"), width);
            assert!(needed <= u64::from(width), "{at}: {needed} px are needed");
            assert_eq!(self.violations(), Vec::<String>::new(), "{at}");
        }
        self.devtools("Emulation.setEmulatedMedia", &json!({"features": []}));
        self.resize(DESK, 900);
        assert_eq!(self.errors(), Vec::<String>::new(), "{name}");
    }

    /// Loads the audit into the page that is open.
    pub fn bring_audit(&self) {
        self.run(&fs::read_to_string(variable("MLE_STAR_TEST_AXE")).unwrap());
    }

    /// The violations found by the audit, with their elements. To name the elements of what passed takes longer
    /// than the audit itself.
    pub fn violations(&self) -> Vec<String> {
        let found = self.run_until_done(
            "axe.run(document, {resultTypes: ['violations']}).then(result => done(result.violations.map(v => v.id + ': ' + v.help + ' ' + \
             v.nodes.slice(0, 4).map(n => n.html + ' ' + n.any.map(a => a.message)).join('\\n'))), \
             error => done(['' + error]))",
        );
        found.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    /// Errors on the console since the last check.
    pub fn errors(&self) -> Vec<String> {
        let lines = self.tell("se/log", &json!({"type": "browser"}));
        let severe = lines.as_array().unwrap().iter().filter(|line| line["level"] == "SEVERE");
        severe.map(|line| line["message"].as_str().unwrap().to_owned()).collect()
    }

    fn picture(&self, name: &str, width: u32) {
        let height = self.run("return document.documentElement.scrollHeight").as_u64().unwrap();
        self.resize(width, u32::try_from(height.clamp(900, LONGEST)).unwrap());
        self.capture(name);
        self.resize(width, 900);
    }

    /// Saves a screenshot of what the window shows.
    pub fn capture(&self, name: &str) {
        let picture = self.devtools("Page.captureScreenshot", &json!({"format": "png"}));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("screenshots");
        fs::create_dir_all(&folder).unwrap();
        let data = picture["data"].as_str().unwrap();
        fs::write(folder.join(format!("{name}.png")), STANDARD.decode(data).unwrap()).unwrap();
    }

    /// Sets the size of the window in pixels.
    pub fn resize(&self, width: u32, height: u32) {
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", &metrics);
    }

    fn devtools(&self, command: &str, parameters: &Value) -> Value {
        self.tell("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    fn tell(&self, command: &str, body: &Value) -> Value {
        self.ask("POST", &format!("/session/{}/{command}", self.session), body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let value = self.answer(method, path, body);
        assert!(value.get("error").is_none() || value["message"].is_null(), "{path}: {value}");
        value
    }

    fn answer(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.asked(method, path, &body.to_string()).unwrap();
        serde_json::from_str::<Value>(&answer).unwrap()["value"].take()
    }

    fn asked(&self, method: &str, path: &str, body: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_millis(SCRIPT_TIME.into()) + PATIENCE))?;
        let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n");
        let head = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.as_bytes())?;
        body_of(BufReader::new(stream))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session ends the browser; ending only the driver would leave it running.
        let _ = self.asked("DELETE", &format!("/session/{}", self.session), "");
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The driver and its port; `None` if another process took its port for IPv4 or IPv6 first.
fn started_driver() -> Option<(Child, u16)> {
    let mut command = Command::new(variable("MLE_STAR_TEST_CHROMEDRIVER"));
    let mut driver = command.arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines().map_while(Result::ok);
    match lines.find(|line| line.contains("started successfully on port")) {
        Some(line) => Some((driver, line.trim_end_matches('.').rsplit(' ').next()?.parse().ok()?)),
        None => {
            driver.wait().unwrap();
            None
        }
    }
}

/// The body of an answer; the driver does not close the connection after it.
fn body_of(mut answer: impl BufRead) -> std::io::Result<String> {
    let (mut length, mut line) = (0, String::new());
    while answer.read_line(&mut line)? > 2 {
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    answer.read_exact(&mut body)?;
    Ok(String::from_utf8(body).unwrap())
}

fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set")).into()
}
