//! A hub behind a reverse proxy, and its log messages about a misconfigured proxy.

use testkit::eventually;
use tungstenite::Error;

use crate::support::Hub;

fn behind_a_proxy() -> Hub {
    Hub::with(&["--proxy", "127.0.0.1", "--name", "play.example.org"])
}

/// Returns the headers that a proxy forwards for a page at an origin.
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
        ("play.example.org:80", "https://play.example.org"),
        // An attacker on the network can forge a page without TLS.
        ("play.example.org:8443", "http://play.example.org:8443"),
    ] {
        let refused = hub.socket_with("/live", &passed(host, origin, "https"));
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 403), "{host} {origin}");
    }
}

#[test]
fn the_log_says_once_what_a_proxy_does_wrong() {
    let hub = behind_a_proxy();
    // The headers with `proxy_set_header Host $host`.
    let wrong = passed("play.example.org", "https://play.example.org:8443", "https");
    for _ in 0..30 {
        assert!(matches!(hub.socket_with("/live", &wrong), Err(Error::Http(answer)) if answer.status() == 403));
    }
    let line = "rejected a request of a page at 'https://play.example.org:8443' to the hub as 'play.example.org'";
    eventually("nothing is logged", || hub.process.stderr().contains(line));
    // The header without any `proxy_set_header Host`, if the hub has another name.
    let unknown = hub.raw("GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n");
    assert!(unknown.starts_with("HTTP/1.1 421"), "{unknown}");
    let (finished, _) = hub.end();
    let log = finished.stderr;
    assert!(log.contains("proxy_set_header Host $http_host"), "{log}");
    assert!(log.contains("this hub has no host name 'upstream'") && log.contains("--name play.example.org"), "{log}");
    assert_eq!(log.matches(line).count(), 1, "{log}");
}

#[test]
fn the_page_offers_no_ports_that_only_the_machine_of_the_hub_reaches() {
    let hub = behind_a_proxy();
    let page = hub.get("/").1;
    assert!(page.contains(r#"<body data-rooms="here">"#), "{page}");
}
