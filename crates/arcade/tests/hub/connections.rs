//! Limits on idle connections and on the length of frames.

use std::{
    io::{self, Read as _, Write as _},
    time::Instant,
};

use testkit::{PATIENCE, stream::connect};
use tungstenite::Error;

use crate::support::{Hub, native};

/// Limit on the open files of the hub.
const FILES: u32 = 512;
/// Resulting limit on connections: three eighths of the files that are not reserved.
const CONNECTIONS: usize = 144;

#[test]
fn native_clients_and_browsers_share_the_connections_of_the_process() {
    let hub = Hub::with_files(FILES, &["--proxy", "127.0.0.1"]);
    let room = native(&hub.room("robots"));
    let mut natives = vec![];
    loop {
        let mut client = connect(room);
        // The room greets each admitted client.
        match client.read(&mut [0]) {
            Ok(1) => natives.push(client),
            _ => break,
        }
    }
    assert!((CONNECTIONS / 2 - 2..=CONNECTIONS / 2).contains(&natives.len()), "{} of one host", natives.len());
    let page = |client: usize| hub.socket_with("/live", &[("X-Forwarded-For", &format!("198.51.100.{client}"))]);
    let mut pages = vec![];
    let refused = loop {
        match page(pages.len() + 1) {
            Ok(page) => pages.push(page),
            Err(error) => break error,
        }
    };
    assert!(matches!(&refused, Error::Http(answer) if answer.status() == 503), "{refused:?}");
    let all = natives.len() + pages.len();
    // A WebSocket is a request first, so it briefly takes two places.
    assert!((CONNECTIONS - 8..=CONNECTIONS).contains(&all), "{} native, {} pages", natives.len(), pages.len());
    for page in &mut pages {
        page.say(r#"{"look":{}}"#);
        page.until(r#"{"look""#);
    }
    // Pages may also use connections that native clients have closed.
    natives.truncate(CONNECTIONS / 4);
    let until = Instant::now() + PATIENCE;
    while let Err(error) = page(pages.len() + 1) {
        assert!(Instant::now() < until, "{error}");
    }
}

#[test]
fn a_frame_longer_than_any_message_is_refused_by_its_header() {
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
