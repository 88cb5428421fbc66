//! Chromium, driven through its driver. Accessibility is checked by axe-core.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use axum::http::Method;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fantoccini::error::CmdError;
use fantoccini::wd::WebDriverCompatibleCommand;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use url::{ParseError, Url};

/// The timeout for anything to appear.
const PATIENCE: Duration = Duration::from_secs(30);
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
    runtime: Runtime,
    client: Client,
    driver: Child,
    /// Holds its profile.
    _profile: tempfile::TempDir,
}

/// A command that only the driver of Chromium knows.
#[derive(Debug)]
struct Own {
    path: &'static str,
    body: Value,
}

impl WebDriverCompatibleCommand for Own {
    fn endpoint(&self, driver: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        driver.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}

impl Browser {
    pub fn start() -> Self {
        let (driver, port) = (0..5).find_map(|_| started_driver()).expect("the driver does not start");
        let (runtime, profile) = (Runtime::new().unwrap(), tempfile::tempdir().unwrap());
        let mut builder = ClientBuilder::new(HttpConnector::new());
        builder.capabilities(serde_json::from_value(wanted(profile.path())).unwrap());
        let client = runtime.block_on(builder.connect(&format!("http://127.0.0.1:{port}"))).unwrap();
        Self { runtime, client, driver, _profile: profile }
    }

    /// Opens an address and waits until it is loaded.
    pub fn open(&self, url: &str) {
        self.done(self.client.goto(url));
    }

    /// The value that JavaScript code `return`s.
    pub fn run(&self, script: &str) -> Value {
        self.done(self.client.execute(script, Vec::new()))
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
        let found = format!("const found = document.querySelector({});", json!(selector));
        self.run(&format!("{found} return found ? found.innerText : ''")).as_str().unwrap().to_owned()
    }

    /// Clicks on the element of a selector, which must be visible.
    pub fn click(&self, selector: &str) {
        // An update of a section replaces its elements.
        let clicked = (0..10).any(|_| {
            let click = async { self.client.find(Locator::Css(selector)).await?.click().await };
            match self.runtime.block_on(click) {
                Err(error) if error.is_stale_element_reference() => false,
                ended => ended.map(|()| true).unwrap_or_else(|error| panic!("{selector}: {error}")),
            }
        });
        assert!(clicked, "{selector} is never still");
    }

    /// Replaces the value of a field.
    pub fn fill(&self, selector: &str, text: &str) {
        let field = self.done(self.client.find(Locator::Css(selector)));
        self.done(field.clear());
        self.done(field.send_keys(text));
    }

    /// Chooses an option of a list by its value.
    pub fn choose(&self, selector: &str, value: &str) {
        self.done(self.done(self.client.find(Locator::Css(selector))).select_by_value(value));
    }

    /// Presses a key in the element that has the focus.
    pub fn press(&self, key: fantoccini::key::Key) {
        self.done(self.done(self.client.active_element()).send_keys(&key.to_string()));
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
        let script = "const done = arguments[arguments.length - 1]; \
             axe.run(document, {resultTypes: ['violations']}).then(result => done(result.violations.map(v => v.id + ': ' + v.help + ' ' + \
             v.nodes.slice(0, 4).map(n => n.html + ' ' + n.any.map(a => a.message)).join('\\n'))), \
             error => done(['' + error]))";
        let found = self.done(self.client.execute_async(script, Vec::new()));
        found.as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
    }

    /// Errors on the console since the last check.
    pub fn errors(&self) -> Vec<String> {
        let lines = self.own("se/log", json!({"type": "browser"}));
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
        self.own("goog/cdp/execute", json!({"cmd": command, "params": parameters}))
    }

    fn own(&self, path: &'static str, body: Value) -> Value {
        self.done(self.client.issue_cmd(Own { path, body }))
    }

    fn done<T>(&self, command: impl Future<Output = Result<T, CmdError>>) -> T {
        self.runtime.block_on(command).unwrap()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ending the session ends the browser; ending only the driver would leave it running.
        let _ = self.runtime.block_on(self.client.clone().close());
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// A headless browser without background requests. Root cannot use the sandbox, and every page is ours.
fn wanted(profile: &Path) -> Value {
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
        &format!("--user-data-dir={}", profile.display()),
    ];
    json!({
        "goog:chromeOptions": {"binary": variable("MLE_STAR_TEST_CHROMIUM"), "args": arguments},
        "goog:loggingPrefs": {"browser": "ALL"},
        "timeouts": {"script": SCRIPT_TIME, "pageLoad": 60_000},
    })
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

fn variable(name: &str) -> PathBuf {
    std::env::var_os(name).unwrap_or_else(|| panic!("{name} is not set")).into()
}
