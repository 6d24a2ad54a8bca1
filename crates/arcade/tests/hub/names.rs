//! Host names that the hub accepts. The check protects against DNS rebinding by pages of other sites.

use testkit::eventually;
use tungstenite::Error;

use crate::support::Hub;

/// Headers that a browser sends if the host name of another site resolves to the hub.
const EVIL: [(&str, &str); 2] = [("Host", "evil.example"), ("Origin", "http://evil.example")];

fn ask(hub: &Hub, method: &str, path: &str, headers: &[(&str, &str)]) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    for (name, value) in headers {
        request.extend([name, ": ", value, "\r\n"]);
    }
    hub.raw(&(request + "\r\n"))
}

#[test]
fn a_page_whose_name_leads_here_opens_no_sockets_and_reads_nothing() {
    let hub = Hub::start();
    let id = hub.room("nuggets")["id"].as_str().unwrap().to_owned();
    for path in ["/", "/api/rooms", "/metrics", "/readyz", "/healthz", "/js/main.js", "/nowhere"] {
        let answer = ask(&hub, "GET", path, &EVIL[..1]);
        assert!(answer.starts_with("HTTP/1.1 421") && answer.contains("--name"), "{path}: {answer}");
    }
    for path in ["/api/play/nuggets", "/api/rooms"] {
        assert!(ask(&hub, "POST", path, &EVIL).starts_with("HTTP/1.1 421"), "{path}");
    }
    for path in ["/live", "/learn/socket", &format!("/rooms/{id}/socket")] {
        let refused = hub.socket_with(path, &EVIL);
        assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 421), "{path}");
    }
    // The host name in the request line is checked as well.
    let answer = ask(&hub, "GET", "http://evil.example/metrics", &[("Host", "localhost")]);
    assert!(answer.starts_with("HTTP/1.1 421"), "{answer}");
    let both = ask(&hub, "GET", "/metrics", &[("Host", "localhost"), ("Host", "evil.example")]);
    assert!(!both.starts_with("HTTP/1.1 200"), "{both}");
    let counted = || hub.get("/metrics").1.contains("arcade_refused_total{what=\"name\"} 1");
    eventually("refusals are not counted", counted);
}
