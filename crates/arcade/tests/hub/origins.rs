//! Accepted host names and origins, also behind a reverse proxy, against requests of other sites and DNS rebinding.

use std::{
    io::{Read as _, Write as _},
    net::SocketAddr,
};

use serde_json::Value;
use testkit::{eventually, stream::connect};
use tungstenite::Error;

use crate::{
    admin::done,
    support::{Hub, native},
};

/// From a browser, for a host name of another site that resolves to the hub.
const EVIL: [(&str, &str); 2] = [("Host", "evil.example"), ("Origin", "http://evil.example")];

fn request_with(hub: &Hub, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    hub.raw(&(request + "\r\n"))
}

#[test]
fn foreign_host_name_is_rejected() {
    let hub = Hub::start();
    let id = hub.room("nuggets")["id"].as_str().unwrap().to_owned();
    for path in ["/", "/api/rooms", "/metrics", "/js/main.js", "/nowhere"] {
        let answer = request_with(&hub, "GET", path, &EVIL[..1]);
        assert!(answer.starts_with("HTTP/1.1 421") && answer.contains("--public-url"), "{path}: {answer}");
    }
    for path in ["/readyz", "/healthz"] {
        let answer = request_with(&hub, "GET", path, &[("Host", "arcade:9100")]);
        assert!(answer.starts_with("HTTP/1.1 200"), "a probe by the name of a container: {answer}");
    }
    for path in ["/api/play/nuggets", "/api/rooms"] {
        assert!(request_with(&hub, "POST", path, &EVIL).starts_with("HTTP/1.1 421"), "{path}");
    }
    for path in ["/live", "/learn/socket", &format!("/rooms/{id}/socket")] {
        let refused = hub.socket_with(path, &EVIL);
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 421), "{path}");
    }
    let answer = request_with(&hub, "GET", "http://evil.example/metrics", &[("Host", "localhost")]);
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
    let both = request_with(&hub, "GET", "/metrics", &[("Host", "localhost"), ("Host", "evil.example")]);
    assert!(!both.starts_with("HTTP/1.1 200"), "{both}");
    let counted = || hub.get("/metrics").1.contains("arcade_refused_total{what=\"name\"} 1");
    eventually("refusals are not counted", counted);
}

fn behind_a_proxy() -> Hub {
    Hub::with(&["--proxy", "127.0.0.1", "--public-url", "https://play.example.org"])
}

/// As a proxy forwards it for a page at an origin.
fn passed<'a>(host: &'a str, origin: &'a str, proto: &'a str) -> [(&'a str, &'a str); 4] {
    [("Host", host), ("Origin", origin), ("X-Forwarded-For", "198.51.100.1"), ("X-Forwarded-Proto", proto)]
}

#[test]
fn sockets_open_at_any_port_of_the_proxy() {
    let hub = behind_a_proxy();
    for (host, origin) in [
        ("play.example.org", "https://play.example.org"),
        ("play.example.org:8443", "https://play.example.org:8443"),
        ("Play.example.org", "https://play.example.org"),
        // Some proxies add the default port.
        ("play.example.org:443", "https://play.example.org"),
    ] {
        assert!(hub.socket_with("/live", &passed(host, origin, "https")).is_ok(), "{host} {origin}");
    }
    let open = hub.socket_with("/live", &passed("play.example.org:80", "http://play.example.org", "http"));
    assert!(open.is_ok(), "{open:?}");
    for (host, origin) in [
        ("play.example.org:443", "https://play.example.org:8443"),
        ("play.example.org:80", "https://play.example.org:8443"),
        // An attacker on the network can forge a page without TLS.
        ("play.example.org:8443", "http://play.example.org:8443"),
    ] {
        let refused = hub.socket_with("/live", &passed(host, origin, "https"));
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 403), "{host} {origin}");
    }
}

#[test]
fn misconfigured_proxy_is_logged_once() {
    let hub = behind_a_proxy();
    // With `proxy_set_header Host $host`.
    let wrong = passed("play.example.org", "https://play.example.org:8443", "https");
    for _ in 0..30 {
        assert!(matches!(hub.socket_with("/live", &wrong), Err(Error::Http(answer)) if answer.status() == 403));
    }
    let line = "rejected a request of a page at 'https://play.example.org:8443' to the hub as 'play.example.org'";
    eventually("nothing is logged", || hub.process.stderr().contains(line));
    // Without any `proxy_set_header Host`, if the hub has another name.
    let unknown = hub.raw("GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n");
    assert!(unknown.starts_with("HTTP/1.1 421"), "{unknown}");
    let (finished, _) = hub.end();
    let log = finished.stderr;
    assert!(log.contains("proxy_set_header Host $http_host"), "{log}");
    assert!(log.contains("this hub has no host name 'upstream'") && log.contains("--public-url https://"), "{log}");
    assert_eq!(log.matches(line).count(), 1, "{log}");
}

#[test]
fn public_url_decides_links_hosts_origins_and_paths() {
    let hub =
        Hub::with(&["--public-url", "https://Play.example.org:443/games/", "--public-url", "http://lan:8080/games"]);
    let friends = "Friends:   https://play.example.org/games/\n";
    eventually("no address for friends", || hub.process.stdout().contains(friends));
    for host in ["localhost", "play.example.org", "lan:8080"] {
        let answer = request_with(&hub, "GET", "/api/address?path=/learn", &[("Host", host)]);
        assert!(answer.contains(r#""url":"https://play.example.org/games/learn""#), "{host}: {answer}");
    }
    let page = hub.get("/games/rooms/nuggets-1").1;
    assert!(page.contains(r#"data-public="https://play.example.org/games/""#), "{page}");
    assert!(page.contains(r#"src="/games/js/start.js""#) && !page.contains("=\"/js/"), "{page}");
    // A proxy may keep or strip the prefix.
    for path in ["/games/js/main.js", "/js/main.js", "/games", "/games/", "/games?game=robots"] {
        assert!(hub.get(path).0.starts_with("HTTP/1.1 200"), "{path}");
    }
    assert!(hub.get("/gamesjs/main.js").0.starts_with("HTTP/1.1 404"));
    let room = hub.make(&serde_json::json!({ "game": "nuggets", "room": { "visibility": "link" } }));
    let (code, id) = (room["code"].as_str().unwrap(), room["id"].as_str().unwrap());
    let led = hub.get(&format!("/games/j/{code}")).0;
    assert!(led.contains(&format!("location: /games/rooms/{id}#{code}\r\n")), "{led}");
    // A proxy may send its own name of the hub.
    let open = |origin: &str| hub.socket("/games/live", Some(origin));
    assert!(open("https://play.example.org").is_ok() && open("http://lan:8080").is_ok());
    for strange in ["http://play.example.org", "https://play.example.org:8443", "http://lan", "https://example.org"] {
        assert!(matches!(open(strange), Err(Error::Http(answer)) if answer.status() == 403), "{strange}");
    }
}

#[test]
fn proxy_protocol_states_the_client_of_the_page_and_of_rooms() {
    let hub = Hub::with(&["--proxy", "127.0.0.0/8", "--proxy-protocol", "--ladder", "mastermind"]);
    let client = "PROXY TCP4 198.51.100.7 203.0.113.1 5000 443\r\n";
    let send_with = |header: &str, request: &str, body: &str| {
        let mut stream = hub.connect();
        let head = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close";
        write!(stream, "{header}{request} {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut answer = vec![];
        // Fails after a reset.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    };
    let send = |header: &str, request: &str| send_with(header, request, "");
    // Only for programs on this machine.
    assert!(send("PROXY UNKNOWN\r\n", "GET /metrics").starts_with("HTTP/1.1 200"));
    assert!(send(client, "GET /metrics").starts_with("HTTP/1.1 403"));
    for wrong in ["", "PROXY TCP4 198.51.100.7\r\n", &client[1..]] {
        assert_eq!(send(wrong, "GET /metrics"), "", "{wrong}");
    }
    eventually("nothing is logged", || hub.process.stderr().contains("closed a connection of the proxy 127.0.0.1"));
    let made = send_with(client, "POST /api/rooms", r#"{"game":"robots","players":3}"#);
    let room: Value = serde_json::from_str(made.split_once("\r\n\r\n").unwrap().1).unwrap();
    let mut player = connect(native(&room));
    player.write_all(&[client.as_bytes(), b"\0\x03Ann"].concat()).unwrap();
    eventually("no player from there", || done(&hub, &["room", "list"]).contains("Ann, from 198.51.100.7"));
    // Bots connect without a header.
    let proof = serde_json::json!({ "owner": room["owner_token"] }).to_string();
    let added = send_with(client, &format!("POST /api/rooms/{}/bots", room["id"].as_str().unwrap()), &proof);
    assert!(added.starts_with("HTTP/1.1 204"), "{added}");
    let ladder = send(client, "GET /api/ladder");
    let ladder: Value = serde_json::from_str(ladder.split_once("\r\n\r\n").unwrap().1).unwrap();
    let port = u16::try_from(ladder["games"][0]["port"].as_u64().unwrap()).unwrap();
    let answer = |header: &str| {
        let mut program = connect(SocketAddr::from(([127, 0, 0, 1], port)));
        program.write_all(format!("{header}PLAY nobody\n").as_bytes()).unwrap();
        let mut answer = vec![];
        let _ = program.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let welcome = answer(client);
    assert!(welcome.contains("BYE say your name"), "{welcome}");
    done(&hub, &["ban", "198.51.100.7"]);
    assert_eq!([answer(client), answer("")], ["", ""]);
    eventually("no bot", || done(&hub, &["room", "list"]).contains("Bot Ada"));
}

#[test]
fn page_behind_a_proxy_hides_local_ports() {
    let hub = behind_a_proxy();
    let page = hub.get("/").1;
    assert!(page.contains(r#"<body data-rooms="here">"#), "{page}");
}

#[test]
fn pages_of_other_sites_cannot_open_sockets() {
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
