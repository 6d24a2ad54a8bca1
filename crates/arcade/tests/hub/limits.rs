use std::{
    io::{self, Write as _},
    time::Instant,
};

use serde_json::Value;
use testkit::PATIENCE;
use tungstenite::Error;

use crate::support::Hub;

#[test]
fn too_long_frame_is_rejected_by_its_header() {
    let hub = Hub::start();
    let room = hub.room("nuggets")["id"].as_str().unwrap().to_owned();
    for (path, limit) in [("/live".to_owned(), 1024), (format!("/rooms/{room}/socket"), 65_507)] {
        for length in [limit + 1_u64, 16 << 20, u64::MAX >> 1] {
            let mut browser = hub.socket(&path, None).unwrap();
            let header = [&[0x82, 0xff][..], &length.to_be_bytes(), &[1, 2, 3, 4]].concat();
            browser.0.get_mut().write_all(&header).unwrap();
            let until = Instant::now() + PATIENCE;
            let end = loop {
                assert!(Instant::now() < until, "{path} waits for {length} bytes");
                match browser.0.read() {
                    Ok(_) => {}
                    Err(error) => break error,
                }
            };
            let waits = |error: &io::Error| matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
            assert!(!matches!(&end, Error::Io(error) if waits(error)), "{path} waits for {length} bytes");
        }
    }
}

#[test]
fn too_long_body_is_rejected() {
    let hub = Hub::with(&["--no-default-rooms"]);
    let (head, _) = hub.request("POST", "/api/rooms", &" ".repeat((16 << 10) + 1));
    assert!(head.starts_with("HTTP/1.1 413"), "{head}");
}

#[test]
fn rooms_and_sockets_of_a_host_are_bounded() {
    let hub = Hub::with(&["--rooms-per-host", "1", "--sockets-per-host", "2", "--no-default-rooms"]);
    assert_eq!(hub.rooms(), Vec::<Value>::new());
    hub.nuggets();
    let (head, body) = hub.request("POST", "/api/rooms", r#"{"game": "nuggets"}"#);
    assert!(
        head.starts_with("HTTP/1.1 429") && head.contains("retry-after:") && body.contains("too_many_rooms"),
        "{head} {body}"
    );
    let _sockets = [hub.socket("/live", None).unwrap(), hub.socket("/live", None).unwrap()];
    let third = hub.socket("/live", None);
    assert!(matches!(&third, Err(Error::Http(answer)) if answer.status() == 429));
}
