//! The REST requests to the SDK server of Agones.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
};

use serde_json::{Value, json};

use crate::support::Hub;

struct Sidecar(TcpListener);

impl Sidecar {
    // Answers until `status` returns `None`.
    fn serve(&self, mut status: impl FnMut(&str, &Value) -> Option<u16>) {
        loop {
            let (mut stream, _) = self.0.accept().unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut lines = vec![];
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                match line.trim_end() {
                    "" => break,
                    line => lines.push(line.to_lowercase()),
                }
            }
            let length = lines.iter().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            let mut body = vec![0; length.parse().unwrap()];
            reader.read_exact(&mut body).unwrap();
            assert!(lines.iter().any(|line| line == "content-type: application/json"), "{lines:?}");
            let (what, version) = lines[0].rsplit_once(' ').unwrap();
            assert_eq!(version, "http/1.1");
            let answered = status(what, &serde_json::from_slice(&body).unwrap());
            write!(stream, "HTTP/1.1 {} Status\r\nContent-Length: 2\r\n\r\n{{}}", answered.unwrap_or(200)).unwrap();
            if answered.is_none() {
                break;
            }
        }
    }
}

#[test]
fn agones_receives_readiness_health_and_room_count() {
    let sidecar = Sidecar(TcpListener::bind("127.0.0.1:0").unwrap());
    let port = sidecar.0.local_addr().unwrap().port().to_string();
    let hub = Hub::with_variable("AGONES_SDK_HTTP_PORT", &port, &["--agones", "--no-default-rooms", "--drain", "0"]);
    // The first request fails, as if the server were starting.
    let mut requests = vec![];
    sidecar.serve(|what, body| {
        requests.push((what.to_owned(), body.clone()));
        match requests.len() {
            1 => Some(503),
            4 => None,
            _ => Some(200),
        }
    });
    let empty = json!({});
    let ready = ("post /ready".to_owned(), empty.clone());
    let health = ("post /health".to_owned(), empty.clone());
    let rooms = |count: &str| ("patch /v1beta1/counters/rooms".to_owned(), json!({ "count": count }));
    assert_eq!(requests, [ready.clone(), ready, health.clone(), rooms("0")]);
    // The counter is sent only after a change.
    let _room = hub.nuggets();
    let mut requests = vec![];
    sidecar.serve(|what, body| {
        requests.push((what.to_owned(), body.clone()));
        (!what.starts_with("patch")).then_some(200)
    });
    assert_eq!((requests.pop(), requests.pop()), (Some(rooms("1")), Some(health.clone())));
    assert!(requests.iter().all(|request| *request == health), "{requests:?}");
    hub.process.terminate();
    let mut last = None;
    sidecar.serve(|what, _| {
        last = Some(what.to_owned());
        (what != "post /shutdown").then_some(200)
    });
    assert_eq!(last.as_deref(), Some("post /shutdown"));
    assert_eq!(hub.end().0.code, Some(0));
}

#[test]
fn hub_without_the_counter_continues_and_logs_it() {
    let sidecar = Sidecar(TcpListener::bind("127.0.0.1:0").unwrap());
    let port = sidecar.0.local_addr().unwrap().port().to_string();
    let hub = Hub::with_variable("AGONES_SDK_HTTP_PORT", &port, &["--agones", "--no-default-rooms", "--drain", "0"]);
    let mut patched = 0;
    let mut healthy = 0;
    sidecar.serve(|what, _| {
        patched += u32::from(what.starts_with("patch"));
        healthy += u32::from(what == "post /health");
        if healthy == 2 { None } else { Some(if what.starts_with("patch") { 404 } else { 200 }) }
    });
    assert_eq!(patched, 1);
    drop(sidecar);
    let stderr = hub.end().0.stderr;
    assert!(stderr.contains("Agones has no counter 'rooms'"), "{stderr}");
}
