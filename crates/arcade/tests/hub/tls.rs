use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::Arc,
};

use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned,
    pki_types::{CertificateDer, ServerName},
};
use testkit::{TempDir, stream::connect};
use tungstenite::{ClientRequestBuilder, Error, HandshakeError, Message, WebSocket, client};

use crate::support::Hub;

type Secure = StreamOwned<ClientConnection, TcpStream>;

/// As files and as the trust anchor of clients.
struct Certificate {
    folder: TempDir,
    der: CertificateDer<'static>,
}

impl Certificate {
    fn new() -> Self {
        let mut made = Self { folder: TempDir::new(), der: vec![].into() };
        made.renew(2101);
        made
    }

    /// Expires on 1 January of the given year.
    fn renew(&mut self, ends: i32) {
        let mut params = CertificateParams::new(vec!["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
        params.not_after = date_time_ymd(ends, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        self.folder.file("certificate.pem", certificate.pem());
        self.folder.file("key.pem", key.serialize_pem());
        self.der = certificate.der().clone();
    }

    fn options(&self) -> [String; 3] {
        let path = |name| self.folder.path().join(name).into_os_string().into_string().unwrap();
        ["--tls".to_owned(), path("certificate.pem"), path("key.pem")]
    }

    fn hub(&self) -> Hub {
        let options = self.options();
        Hub::with(&options.each_ref().map(String::as_str))
    }

    fn connect(&self, hub: SocketAddr) -> Secure {
        let mut roots = RootCertStore::empty();
        roots.add(self.der.clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let mut config = config.with_root_certificates(roots).with_no_client_auth();
        config.alpn_protocols = ["h2", "http/1.1"].map(|name| name.as_bytes().to_vec()).into();
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        StreamOwned::new(connection, connect(hub))
    }

    fn get(&self, hub: SocketAddr, path: &str) -> Result<String, std::io::Error> {
        let mut stream = self.connect(hub);
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", hub.port())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        assert_eq!(stream.conn.alpn_protocol(), Some(&b"http/1.1"[..]));
        Ok(answer)
    }

    fn socket(&self, hub: SocketAddr, path: &str, scheme: &str) -> Result<WebSocket<Secure>, Error> {
        let host = format!("localhost:{}", hub.port());
        let request = ClientRequestBuilder::new(format!("wss://{host}{path}").parse().unwrap())
            .with_header("Origin", format!("{scheme}://{host}"));
        match client(request, self.connect(hub)) {
            Ok((socket, _)) => Ok(socket),
            Err(HandshakeError::Failure(error)) => Err(error),
            Err(error @ HandshakeError::Interrupted(_)) => panic!("{error}"),
        }
    }
}

fn until(socket: &mut WebSocket<Secure>, front: &str) -> String {
    loop {
        if let Message::Text(text) = socket.read().unwrap()
            && text.starts_with(front)
        {
            return text.to_string();
        }
    }
}

#[test]
fn plain_http_is_redirected_to_tls() {
    let certificate = Certificate::new();
    let hub = certificate.hub();
    let port = hub.address.port();
    assert!(hub.process.stdout().starts_with(&format!("The arcade is open at https://localhost:{port}/\n")));
    let page = certificate.get(hub.address, "/").unwrap();
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Arcade</title>"), "{page}");
    let address = certificate.get(hub.address, "/api/address").unwrap();
    assert!(address.contains(&format!("https://localhost:{port}/")), "{address}");
    let mut browser = certificate.socket(hub.address, "/rooms/nuggets-1/socket", "https").unwrap();
    browser.send(Message::text("PLAY Ann")).unwrap();
    assert_eq!(until(&mut browser, "OK"), "OK A");
    // A page without TLS can be forged.
    let refused = certificate.socket(hub.address, "/live", "http");
    assert!(matches!(&refused, Err(Error::Http(answer)) if answer.status() == 403), "{refused:?}");
    let plain = |request: &str| hub.raw(&format!("{request}Connection: close\r\n\r\n"));
    let led = plain("GET /rooms/nuggets-1?watch HTTP/1.1\r\nHost: localhost:5\r\n");
    assert!(led.starts_with("HTTP/1.1 307"), "{led}");
    assert!(led.contains("location: https://localhost:5/rooms/nuggets-1?watch\r\n"), "{led}");
    let upgrade = "Upgrade: websocket\r\n";
    for request in [
        "POST /api/play/nuggets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n",
        &format!("GET /live HTTP/1.1\r\nHost: localhost\r\n{upgrade}"),
        "GET /healthz HTTP/1.0\r\n",
    ] {
        let refused = plain(request);
        assert!(refused.starts_with("HTTP/1.1 400") || refused.starts_with("HTTP/1.0 400"), "{refused}");
        assert!(refused.contains("this port requires TLS") && !refused.contains("location:"), "{refused}");
    }
    let strange = plain("GET / HTTP/1.1\r\nHost: evil.example\r\n");
    assert!(strange.starts_with("HTTP/1.1 421"), "{strange}");
    let (finished, _) = hub.end();
    assert_eq!(finished.code, Some(0));
}

#[test]
fn sighup_renews_the_certificate_and_keeps_connections() {
    let mut certificate = Certificate::new();
    let hub = certificate.hub();
    let mut browser = certificate.socket(hub.address, "/rooms/nuggets-1/socket", "https").unwrap();
    browser.send(Message::text("PLAY Ann")).unwrap();
    until(&mut browser, "OK A");
    let before = certificate.der.clone();
    certificate.renew(2102);
    assert!(certificate.get(hub.address, "/healthz").is_err());
    hub.process.hang_up();
    hub.process.wait_stderr("the renewal", |log| log.contains("ends on 2102-01-01").then_some(()));
    assert!(certificate.get(hub.address, "/healthz").unwrap().starts_with("HTTP/1.1 200"));
    certificate.folder.file("key.pem", "nothing");
    hub.process.hang_up();
    hub.process.wait_stderr("what is wrong", |log| {
        (log.contains("keeping the previous certificate") && log.contains("contains no private key")).then_some(())
    });
    assert!(certificate.get(hub.address, "/healthz").unwrap().starts_with("HTTP/1.1 200"));
    browser.send(Message::text("nonsense")).unwrap();
    until(&mut browser, "ERROR");
    assert_eq!(browser.get_ref().conn.peer_certificates(), Some(&[before][..]));
    let (finished, _) = hub.end();
    assert_eq!(finished.code, Some(0));
}

#[test]
fn sighup_does_not_end_a_hub_without_a_certificate() {
    let hub = Hub::start();
    hub.process.hang_up();
    hub.process.wait_stderr("what it does", |log| log.contains("SIGHUP reloads the certificate").then_some(()));
    assert!(hub.get("/healthz").0.starts_with("HTTP/1.1 200"));
    let (finished, _) = hub.end();
    assert_eq!(finished.code, Some(0));
}
