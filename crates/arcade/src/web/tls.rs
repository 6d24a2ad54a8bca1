//! TLS at the port of the page.
//!
//! Who connects is charged before a handshake begins, since its arithmetic costs more than most requests. There is no
//! Strict-Transport-Security: it would hold for all ports of the name, also where other servers speak plain HTTP, and would lock players
//! out of a hub whose certificate they have to accept by hand.

mod certificate;

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use axum::{
    extract::Request,
    http::{Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use humantime::format_rfc3339_seconds;
use rustls::{ServerConfig, sign::SingleCertAndKey};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tracing::{info, warn};

pub(crate) use self::certificate::{Certificate, CertificateError, Files};
use super::{answer::error, caller::Link};
use crate::fleet::seal::Relayed;

/// How long a handshake may take.
pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of one connection that are sealed or wait to be, in each of two buffers; one record.
const MAX_BUFFERED: usize = 16 << 10;
/// With this byte a client of TLS begins, and no request of HTTP.
const HELLO: u8 = 0x16;

/// The certificate that new connections are shown.
pub(crate) struct Tls {
    files: Files,
    names: Vec<String>,
    acceptor: RwLock<TlsAcceptor>,
}

impl Tls {
    /// Reads a certificate for a hub with these names. What browsers will not like about it is logged.
    pub(crate) fn open(files: Files, names: Vec<String>) -> Result<Self, CertificateError> {
        let acceptor = RwLock::new(acceptor(&files, &names)?);
        Ok(Self { files, names, acceptor })
    }

    /// Reads the files again. Connections that are open go on as they are. If the files cannot be used, the certificate of before stays.
    pub(crate) fn renew(&self) -> Result<(), CertificateError> {
        let renewed = acceptor(&self.files, &self.names)?;
        *self.acceptor.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        Ok(())
    }

    /// Completes the handshake with a client, in time. `None` if it fails.
    pub(super) async fn accept<S>(&self, stream: S) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let acceptor = self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone();
        let handshake = acceptor.accept_with(stream, |connection| connection.set_buffer_limit(Some(MAX_BUFFERED)));
        // What goes wrong with it is the client's business.
        timeout(HANDSHAKE, handshake).await.ok()?.ok()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

// Another configuration for each certificate, so that nobody resumes a session of the one before.
fn acceptor(files: &Files, names: &[String]) -> Result<TlsAcceptor, CertificateError> {
    let certificate = Certificate::read(files)?;
    let unusable = |error| CertificateError::Unusable { files: files.clone(), error };
    let path = files.certificate.display();
    let ends = certificate.ends().map(|ends| format!(", which ends on {}", format_rfc3339_seconds(ends)));
    info!("TLS with the certificate in '{path}'{}", ends.unwrap_or_default());
    for flaw in certificate.flaws(SystemTime::now(), names) {
        warn!("browsers will reject '{path}': {flaw}");
    }
    let config = ServerConfig::builder_with_provider(Arc::new(certificate::provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let mut config =
        config.with_no_client_auth().with_cert_resolver(Arc::new(SingleCertAndKey::from(certificate.certified)));
    // The server speaks nothing else.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Whether a client that sends this first wants TLS.
pub(super) const fn is_hello(first: u8) -> bool {
    first == HELLO
}

/// Leads requests that came without TLS, at a port that has it, to the same address with it.
pub(super) async fn elsewhere(request: Request, next: Next) -> Response {
    // Nodes pass requests on to each other without TLS.
    let is_relayed = request.extensions().get::<Relayed>().is_some();
    if is_relayed || request.extensions().get::<Link>() != Some(&Link::Stray) {
        return next.run(request).await;
    }
    let text = "this port speaks TLS; use an address that begins with https:// or wss://";
    let refused = || error(StatusCode::BAD_REQUEST, text);
    // A browser that opens a socket, and whoever sends something, would not follow.
    let follows =
        matches!(*request.method(), Method::GET | Method::HEAD) && !request.headers().contains_key(header::UPGRADE);
    // A name of this hub, or the request would not be here.
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    match host.filter(|_| follows) {
        // Not for ever: the host may give up TLS.
        Some(host) => {
            let there = [(header::LOCATION, format!("https://{host}{path}"))];
            (StatusCode::TEMPORARY_REDIRECT, there, refused()).into_response()
        }
        None => refused(),
    }
}
