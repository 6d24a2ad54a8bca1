//! Tests of the hub as a process, with WebSocket connections of browsers and native clients.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[cfg(unix)]
mod admin;
#[cfg(unix)]
mod agones;
mod bots;
mod connections;
mod examples;
#[cfg(unix)]
mod fleet;
mod hidden;
mod kit;
mod ladder;
mod live;
mod mastermind;
#[cfg(target_os = "linux")]
mod memory;
mod metrics;
mod names;
mod openapi;
mod people;
mod proxy;
mod ranks;
mod restart;
mod results;
mod rooms;
#[cfg(unix)]
mod root;
mod seats;
mod shares;
mod support;
#[cfg(unix)]
mod tls;
#[cfg(unix)]
mod toolbox;
mod watchers;

use serde_json::Value;
use support::{Hub, native};
use testkit::peer::Peer;
use tungstenite::{Error, Message};

#[test]
fn a_browser_and_a_native_client_play_nuggets_in_the_same_match() {
    let hub = Hub::start();
    let room = hub.nuggets();
    let id = room["id"].as_str().unwrap();
    let mut browser = hub.socket(&format!("/rooms/{id}/socket"), Some(&format!("http://{}", hub.address))).unwrap();
    let hello: Value = serde_json::from_str(&browser.until("{")).unwrap();
    browser.say("PLAY <script>");
    assert_eq!(browser.until("OK"), "OK A");
    browser.until("DISPLAY");
    let native = Peer::new(native(&room));
    assert_eq!(native.play("Bob").letter, 'B');
    // A new player causes a new display for all clients.
    browser.until("DISPLAY");
    browser.say("KEY h");
    browser.say("KEY l");
    native.expect("DISPLAY");
    // The lobby and the page list both players, and escape names in the markup.
    let (head, page) = hub.wait("page with both", |_| Some(hub.get("/")).filter(|(_, page)| page.contains("Bob")));
    assert!(page.contains("Bob") && page.contains("\\u003cscript>") && !page.contains("<script>\""), "{page}");
    assert!(head.contains("content-security-policy: default-src 'none'; script-src 'self'"), "{head}");
    // After a reload, the token gives access to the same seat.
    drop(browser);
    let token = hello["seat"].as_str().unwrap();
    let mut again = hub.come_back(&room, token);
    assert_eq!(again.until("OK"), "OK A");
    again.until("DISPLAY");
    let mut stolen = hub.come_back(&room, &format!("{token}x"));
    assert!(matches!(stolen.0.read(), Ok(Message::Close(Some(close))) if u16::from(close.code) == 4002));
}

#[test]
fn pages_of_other_sites_open_no_sockets() {
    let hub = Hub::start();
    let id = hub.room("robots")["id"].as_str().unwrap().to_owned();
    for path in ["/live".to_owned(), format!("/rooms/{id}/socket")] {
        let refused = hub.socket(&path, Some("http://example.com"));
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 403), "{path}");
        hub.socket(&path, Some(&format!("http://{}", hub.address))).unwrap();
    }
    let stranger =
        "POST /api/play/nuggets HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.com\r\nConnection: close\r\n\r\n";
    assert!(hub.raw(stranger).starts_with("HTTP/1.1 403"));
    assert!(hub.get("/rooms/nowhere-9/socket").0.starts_with("HTTP/1.1 4"));
    assert!(hub.get("/js/main.js").0.contains("text/javascript"));
    assert!(hub.get("/js/../../Cargo.toml").0.starts_with("HTTP/1.1 404"));
    let address: Value = serde_json::from_str(&hub.get("/api/address?path=/learn").1).unwrap();
    assert_eq!(address["url"], format!("http://localhost:{}/learn", hub.address.port()));
    assert!(hub.get("/qr.svg").1.contains("<svg"));
    let (finished, _) = hub.end();
    assert_eq!(finished.code, Some(0));
}
