//! Controls headless Chromium through its DevTools protocol, over pipes.

use base64::{Engine, engine::general_purpose::STANDARD};
use image::RgbaImage;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// Returns the path in `CHROMIUM`, or that of Debian's package.
pub fn chromium() -> Option<PathBuf> {
    let path = std::env::var_os("CHROMIUM").map_or("/usr/bin/chromium".into(), PathBuf::from);
    path.is_file().then_some(path)
}

/// A browser with one page.
pub struct Browser {
    process: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    /// The session id of the page.
    session: Option<Value>,
    calls: u64,
    events: Vec<Value>,
    _profile: TempDir,
}

impl Browser {
    pub fn open() -> Self {
        let profile = tempfile::tempdir().unwrap();
        // Chromium reads calls from file 3 and writes answers to file 4.
        let mut process = Command::new("sh")
            .args(["-c", r#"exec "$0" "$@" 3<&0 4>&1 0</dev/null 1>/dev/null 2>&1"#])
            .arg(chromium().unwrap())
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--hide-scrollbars"])
            .args(["--window-size=1280,900", &format!("--user-data-dir={}", profile.path().display())])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (process.stdin.take().unwrap(), BufReader::new(process.stdout.take().unwrap()));
        let mut browser = Self { process, to, from, session: None, calls: 0, events: vec![], _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = Some(browser.call("Target.attachToTarget", attach)["sessionId"].clone());
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Loads a file and waits until it is complete.
    pub fn load(&mut self, path: &Path) {
        self.call("Page.navigate", json!({ "url": format!("file://{}", path.display()) }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.receive();
            self.events.push(event);
        }
    }

    /// The result of a method of the protocol.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            call["sessionId"] = session.clone();
        }
        self.to.write_all(format!("{call}\0").as_bytes()).unwrap();
        loop {
            let message = self.receive();
            if message["id"] == self.calls {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn receive(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.from.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has gone");
        serde_json::from_slice(&bytes).unwrap()
    }

    /// The value of an expression in the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let answer = self.call("Runtime.evaluate", json!({ "expression": expression, "returnByValue": true }));
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Scrolls an element into view; returns its left, top, width and height.
    fn place(&mut self, selector: &str) -> [f64; 4] {
        let rectangle = "(() => { const r = e.getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()";
        let find =
            format!("e = document.querySelector('{selector}'); e.scrollIntoView({{ block: 'nearest' }}); {rectangle}");
        serde_json::from_value(self.evaluate(&find)).unwrap()
    }

    /// Clicks into an element, at a fraction of its width.
    pub fn click(&mut self, selector: &str, part: f64) {
        let [x, y, width, height] = self.place(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let at = json!({ "type": kind, "x": x + part * width, "y": y + height / 2.0, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", at);
        }
    }

    /// Presses a key of this name and number.
    pub fn press(&mut self, key: &str, number: u32) {
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "windowsVirtualKeyCode": number });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Returns a screenshot of an element.
    pub fn shot(&mut self, selector: &str) -> RgbaImage {
        let [x, y, width, height] = self.place(selector);
        let scrolled = self.evaluate("scrollY").as_f64().unwrap();
        let clip = json!({ "x": x, "y": y + scrolled, "width": width, "height": height, "scale": 1 });
        let shot = self.call("Page.captureScreenshot", json!({ "clip": clip, "captureBeyondViewport": true }));
        let png = STANDARD.decode(shot["data"].as_str().unwrap()).unwrap();
        image::load_from_memory(&png).unwrap().into_rgba8()
    }

    /// Fails if the page had errors or requested anything other than itself.
    pub fn assert_clean(&self) {
        for event in &self.events {
            let parameters = &event["params"];
            let asked = parameters["request"]["url"].as_str();
            let own = asked.is_none_or(|url| url.starts_with("data:") || url.ends_with("/out/report.html"));
            let level = [&parameters["entry"]["level"], &parameters["type"]];
            let error = event["method"] == "Runtime.exceptionThrown" || level.iter().any(|level| **level == "error");
            assert!(own && !error, "{event}");
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
