//! Tests of the hub as a process, with browsers (WebSocket) and native clients.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[cfg(unix)]
mod admin;
#[cfg(unix)]
mod agones;
mod bots;
#[cfg(unix)]
mod classes;
mod daily;
mod examples;
#[cfg(unix)]
mod fleet;
mod ladder;
mod limits;
mod mastermind;
#[cfg(target_os = "linux")]
mod memory;
mod metrics;
mod openapi;
mod origins;
mod people;
mod ranks;
mod restart;
mod results;
mod rooms;
#[cfg(unix)]
mod root;
mod seats;
mod support;
#[cfg(unix)]
mod tls;
#[cfg(unix)]
mod toolbox;
mod watchers;

use serde_json::Value;
use support::{Hub, native};
use testkit::peer::Peer;
use tungstenite::Message;

#[test]
fn browser_and_native_client_share_a_match() {
    let hub = Hub::start();
    let room = hub.nuggets();
    let id = room["id"].as_str().unwrap();
    let mut browser = hub.socket(&format!("/rooms/{id}/socket"), Some(&format!("http://{}", hub.address))).unwrap();
    let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
    browser.send("PLAY <script>");
    assert_eq!(browser.until("OK"), "OK A");
    browser.until("DISPLAY");
    let native = Peer::new(native(&room));
    assert_eq!(native.play("Bob").letter, 'B');
    // Because of the new player.
    browser.until("DISPLAY");
    browser.send("KEY h");
    browser.send("KEY l");
    native.expect("DISPLAY");
    // Names are escaped.
    let (head, page) = hub.wait("page with both", |_| Some(hub.get("/")).filter(|(_, page)| page.contains("Bob")));
    assert!(page.contains("Bob") && page.contains("\\u003cscript>") && !page.contains("<script>\""), "{page}");
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{head}");
    drop(browser);
    let token = hello["seat"].as_str().unwrap();
    let mut again = hub.reconnect(&room, token);
    assert_eq!(again.until("OK"), "OK A");
    again.until("DISPLAY");
    let mut stolen = hub.reconnect(&room, &format!("{token}x"));
    assert!(matches!(stolen.0.read(), Ok(Message::Close(Some(close))) if u16::from(close.code) == 4002));
}
