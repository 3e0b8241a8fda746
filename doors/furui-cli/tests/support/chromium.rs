//! Drives Chromium without a window, through its DevTools protocol over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::TempDir;

/// The time without any message after which Chromium counts as hanging, and the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A shell command that starts Chromium with its protocol on descriptors 3 (commands) and 4 (answers). Rust passes the
/// two pipes as descriptors 0 and 1.
const PIPES: &str = "exec \"$@\" 3<&0 4>&1 </dev/null >&2";

/// A window of a browser, which is closed when the value is dropped.
pub struct Chromium {
    process: Child,
    commands: ChildStdin,
    messages: Receiver<Value>,
    /// Events that arrived while the test waited for something else.
    events: Vec<Value>,
    commanded: u64,
    session: Option<String>,
    _profile: TempDir,
}

impl Chromium {
    /// Starts the browser that `CHROMIUM` names, or `chromium`.
    pub fn start() -> Self {
        let profile = TempDir::new();
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
        let mut command = Command::new("sh");
        command.args(["-c", PIPES, "sh", &program, "--headless=new", "--no-sandbox", "--remote-debugging-pipe"]);
        command.args(["--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"]);
        command.args(["--disable-component-update", "--disable-sync", "--disable-extensions", "--no-first-run"]);
        command.args(["--metrics-recording-only", "--no-default-browser-check", "--proxy-server=direct://"]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        command.env("HOME", profile.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        let mut answers = BufReader::new(process.stdout.take().unwrap());
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while answers.read_until(0, &mut message).is_ok_and(|read| read > 0) {
                message.pop();
                let _ = sender.send(serde_json::from_slice(&message).unwrap());
                message.clear();
            }
        });
        let commands = process.stdin.take().unwrap();
        let mut browser =
            Self { process, commands, messages, events: Vec::new(), commanded: 0, session: None, _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.call(domain, json!({}));
        }
        browser
    }

    /// Sends a command, and waits for its result.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.commanded += 1;
        let mut command = json!({ "id": self.commanded, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        self.commands.write_all(format!("{command}\0").as_bytes()).expect("Chromium runs");
        loop {
            let mut message = self.next();
            if message["id"] == self.commanded {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].take();
            }
            self.events.push(message);
        }
    }

    fn next(&mut self) -> Value {
        self.messages
            .recv_timeout(PATIENCE)
            .expect("Chromium answers; is it installed? `cargo xtask test browser` installs it")
    }

    /// Runs an action that leads to another page, and waits until that page has loaded.
    pub fn leads_on(&mut self, action: impl FnOnce(&mut Self)) {
        self.events.clear();
        action(self);
        while !self.has_loaded() {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// True if a page other than the one before has loaded. A late event for the page before does not count.
    fn has_loaded(&self) -> bool {
        let mut methods = self.events.iter().map(|event| &event["method"]);
        methods.any(|method| method == "Page.frameNavigated") && methods.any(|method| method == "Page.loadEventFired")
    }

    pub fn open(&mut self, url: &str) {
        self.leads_on(|browser| drop(browser.call("Page.navigate", json!({ "url": url }))));
    }

    /// Evaluates a JavaScript expression on the page, and returns its value.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let mut result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].take()
    }

    /// The text of the first element that matches a CSS selector.
    pub fn text(&mut self, selector: &str) -> String {
        let text = self.value(&format!("document.querySelector({}).textContent", json!(selector)));
        text.as_str().unwrap().to_owned()
    }

    /// The number of elements that match a CSS selector.
    pub fn count(&mut self, selector: &str) -> u64 {
        self.value(&format!("document.querySelectorAll({}).length", json!(selector))).as_u64().unwrap()
    }

    /// Types a text at the cursor.
    pub fn write(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let (code, text) = match key {
            "Enter" => (13, "\r"),
            "Tab" => (9, ""),
            "/" => (191, "/"),
            _ => panic!("unknown key {key}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let key = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": code, "text": text });
            self.call("Input.dispatchKeyEvent", key);
        }
    }

    /// The mean of all pixels of the window, from 0 for black to 255 for white.
    pub fn brightness(&mut self) -> f64 {
        let shot = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        // The content policy of the page forbids to load the picture, but an empty page has no policy.
        self.open("about:blank");
        let mean = format!(
            "(async () => {{
                const image = new Image();
                image.src = 'data:image/png;base64,{}';
                await image.decode();
                const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d');
                canvas.drawImage(image, 0, 0);
                const pixels = canvas.getImageData(0, 0, image.width, image.height).data;
                let sum = 0;
                for (let at = 0; at < pixels.length; at += 4) sum += pixels[at] + pixels[at + 1] + pixels[at + 2];
                return sum / 3 / (pixels.length / 4);
            }})()",
            shot["data"].as_str().unwrap()
        );
        self.value(&mean).as_f64().unwrap()
    }

    /// The problems that the browser reported since the last page was requested: blocked content and exceptions.
    pub fn complaints(&self) -> Vec<&Value> {
        let complains = |event: &&Value| match event["method"].as_str() {
            Some("Log.entryAdded") => event["params"]["entry"]["level"] == "error",
            Some("Runtime.exceptionThrown" | "Page.javascriptDialogOpening") => true,
            _ => false,
        };
        self.events.iter().filter(complains).collect()
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // This fails if the browser has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
