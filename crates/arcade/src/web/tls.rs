//! TLS at the port of the page. A handshake costs more than most requests, so a client is charged before it.
//! Strict-Transport-Security is not sent: it would apply to servers with plain HTTP at this name, and lock out players
//! who accept the certificate manually.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, SystemTime},
};

use axum::{
    extract::Request,
    http::{Method, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use humantime::format_rfc3339_seconds;
use rustls::{
    Error, InconsistentKeys, ServerConfig,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    sign::{CertifiedKey, SingleCertAndKey},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::timeout,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use tracing::{info, warn};
use webpki::{EndEntityCert, KeyUsage};

use super::{caller::Link, response::error};
use crate::{fleet::seal::Relayed, message::message};

pub(crate) const HANDSHAKE: Duration = Duration::from_secs(10);
/// Bytes of each of the two send buffers of a connection, before and after encryption: one record.
const MAX_BUFFERED: usize = 16 << 10;
/// The first byte from a TLS client. No HTTP request begins with it.
const HELLO: u8 = 0x16;

/// The certificate of new connections.
pub(crate) struct Tls {
    files: Files,
    names: Vec<String>,
    acceptor: RwLock<TlsAcceptor>,
}

impl Tls {
    /// Logs flaws that browsers reject.
    pub(crate) fn open(files: Files, names: Vec<String>) -> Result<Self, CertificateError> {
        let (acceptor, found) = acceptor(&files, &names)?;
        found.log();
        Ok(Self { files, names, acceptor: RwLock::new(acceptor) })
    }

    /// Open connections are not affected. If the files are unusable, the previous certificate remains.
    pub(crate) fn renew(&self) -> Result<(), CertificateError> {
        let (renewed, found) = acceptor(&self.files, &self.names)?;
        *self.acceptor.write().unwrap_or_else(PoisonError::into_inner) = renewed;
        // After the change, because operators wait for this line.
        found.log();
        Ok(())
    }

    /// `None` if the handshake fails or takes too long.
    pub(super) async fn accept<S>(&self, stream: S) -> Option<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let acceptor = self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone();
        let handshake = acceptor.accept_with(stream, |connection| connection.set_buffer_limit(Some(MAX_BUFFERED)));
        // Errors of a handshake affect only its client.
        timeout(HANDSHAKE, handshake).await.ok()?.ok()
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

// What the log says about a certificate.
struct Findings {
    text: String,
    flaws: Vec<String>,
}

impl Findings {
    fn log(self) {
        info!("{}", self.text);
        for flaw in self.flaws {
            warn!("{flaw}");
        }
    }
}

// Each certificate has its own configuration, so that no earlier session is resumed.
fn acceptor(files: &Files, names: &[String]) -> Result<(TlsAcceptor, Findings), CertificateError> {
    let certificate = Certificate::read(files)?;
    let unusable = |error| CertificateError::Unusable { files: files.clone(), error };
    let path = files.certificate.display();
    let ends = certificate.ends().map(|ends| format!(", which ends on {}", format_rfc3339_seconds(ends)));
    let text = format!("TLS with the certificate in '{path}'{}", ends.unwrap_or_default());
    let flaws = certificate.flaws(SystemTime::now(), names).into_iter();
    let flaws = flaws.map(|flaw| format!("browsers will reject '{path}': {flaw}")).collect();
    let config = ServerConfig::builder_with_provider(Arc::new(provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let mut config =
        config.with_no_client_auth().with_cert_resolver(Arc::new(SingleCertAndKey::from(certificate.certified)));
    // The only protocol of the server.
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok((TlsAcceptor::from(Arc::new(config)), Findings { text, flaws }))
}

pub(super) const fn is_hello(first: u8) -> bool {
    first == HELLO
}

/// Rejects plain HTTP at a port with TLS, with a redirect if the client would follow it.
pub(super) fn check(request: &Request, base: &str) -> Result<(), Box<Response>> {
    // Nodes forward requests without TLS.
    let is_relayed = request.extensions().get::<Relayed>().is_some();
    if is_relayed || request.extensions().get::<Link>() != Some(&Link::Stray) {
        return Ok(());
    }
    let plain = message!("tls", "this port requires TLS; use an address that starts with https:// or wss://");
    let refused = error(StatusCode::BAD_REQUEST, &plain);
    // Browsers that open a socket, and clients that send a body, follow no redirect.
    let follows =
        matches!(*request.method(), Method::GET | Method::HEAD) && !request.headers().contains_key(header::UPGRADE);
    // A name of this hub, since others were rejected before.
    let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    Err(Box::new(match host.filter(|_| follows) {
        // Temporary, because the operator may stop using TLS.
        Some(host) => {
            let there = [(header::LOCATION, format!("https://{host}{base}{path}"))];
            (StatusCode::TEMPORARY_REDIRECT, there, refused).into_response()
        }
        None => refused,
    }))
}

/// Of a certificate or key, in bytes.
const MAX_PEM: u64 = 1 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    #[error("cannot read '{}': {error}", .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("'{}' contains no certificate in PEM; --tls expects the file of the certificate first, then that of its \
        key", .0.display())]
    NoCertificate(PathBuf),
    #[error("'{}' contains no private key in PEM without a passphrase; --tls expects the file of the certificate \
        first, then that of its key", .0.display())]
    NoKey(PathBuf),
    #[error("the key in '{}' does not belong to the certificate in '{}'; give a matching \
        pair", .0.key.display(), .0.certificate.display())]
    Mismatch(Files),
    #[error("the certificate in '{}' or its key is unusable ({error}); create another \
        pair", .files.certificate.display())]
    Unusable { files: Files, error: Error },
}

#[derive(Debug)]
pub(crate) struct Certificate {
    pub(crate) certified: CertifiedKey,
}

/// A flaw that browsers reject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flaw {
    Expired(SystemTime),
    NotYetValid(SystemTime),
    /// The name that the certificate lacks.
    Unnamed(String),
}

impl Certificate {
    /// Checks that the files belong together.
    pub(crate) fn read(files: &Files) -> Result<Self, CertificateError> {
        let chain = CertificateDer::pem_slice_iter(&content(&files.certificate)?)
            .collect::<Result<Vec<_>, _>>()
            .unwrap_or_default();
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate(files.certificate.clone()));
        }
        let key = PrivateKeyDer::from_pem_slice(&content(&files.key)?)
            .map_err(|_| CertificateError::NoKey(files.key.clone()))?;
        let certified = CertifiedKey::from_der(chain, key, &provider()).map_err(|error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => CertificateError::Mismatch(files.clone()),
            error => CertificateError::Unusable { files: files.clone(), error },
        })?;
        Ok(Self { certified })
    }

    pub(crate) fn ends(&self) -> Option<SystemTime> {
        match self.verify(Duration::MAX) {
            Some(webpki::Error::CertExpired { not_after, .. }) => Some(system_time(not_after)),
            _ => None,
        }
    }

    /// `names` are those of the hub.
    pub(crate) fn flaws(&self, now: SystemTime, names: &[String]) -> Vec<Flaw> {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let date = match self.verify(now) {
            Some(webpki::Error::CertExpired { not_after, .. }) => Some(Flaw::Expired(system_time(not_after))),
            Some(webpki::Error::CertNotValidYet { not_before, .. }) => Some(Flaw::NotYetValid(system_time(not_before))),
            _ => None,
        };
        let unnamed = names.iter().filter(|name| !self.is_for(name)).map(|name| Flaw::Unnamed(name.clone()));
        date.into_iter().chain(unnamed).collect()
    }

    fn is_for(&self, name: &str) -> bool {
        let Ok(server) = ServerName::try_from(name) else { return false };
        self.leaf().is_some_and(|leaf| leaf.verify_is_valid_for_subject_name(&server).is_ok())
    }

    fn leaf(&self) -> Option<EndEntityCert<'_>> {
        EndEntityCert::try_from(self.certified.cert.first()?).ok()
    }

    // A verifier without trust anchors checks the dates first.
    fn verify(&self, since_epoch: Duration) -> Option<webpki::Error> {
        let time = UnixTime::since_unix_epoch(since_epoch);
        self.leaf()?.verify_for_usage(&[], &[], &[], time, KeyUsage::server_auth(), None, None).err()
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired(at) => {
                write!(
                    f,
                    "the certificate ended on {}; renew it, then send the hub SIGHUP",
                    format_rfc3339_seconds(*at)
                )
            }
            Self::NotYetValid(at) => write!(
                f,
                "the certificate begins on {}; set the clock of this machine, or wait",
                format_rfc3339_seconds(*at)
            ),
            Self::Unnamed(name) => {
                write!(f, "the certificate is not for '{name}'; get one for all names in --public-url")
            }
        }
    }
}

fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

fn content(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let mut content = vec![];
    let read = File::open(path).and_then(|file| file.take(MAX_PEM).read_to_end(&mut content));
    read.map(|_| content).map_err(|error| CertificateError::Unreadable { path: path.to_owned(), error })
}

// A certificate that never expires ends in the year 9999, so this cannot overflow.
fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(time.as_secs())
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair, date_time_ymd};
    use testkit::TempDir;

    use super::*;

    // For `play.example.org` and 192.0.2.7, from the year `first` up to `last`.
    fn write_files(folder: &TempDir, first: i32, last: i32) -> Files {
        let mut params = CertificateParams::new(vec!["play.example.org".to_owned(), "192.0.2.7".to_owned()]).unwrap();
        (params.not_before, params.not_after) = (date_time_ymd(first, 1, 1), date_time_ymd(last, 1, 1));
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Files {
            certificate: folder.file(&format!("{first}.pem"), certificate.pem()).into(),
            key: folder.file(&format!("{first}-key.pem"), key.serialize_pem()).into(),
        }
    }

    fn in_year(year: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs((year - 1970) * 31_556_952)
    }

    #[test]
    fn certificate_reports_names_and_expiry() {
        let folder = TempDir::new();
        let certificate = Certificate::read(&write_files(&folder, 2001, 2011)).unwrap();
        assert_eq!(format_rfc3339_seconds(certificate.ends().unwrap()).to_string(), "2011-01-01T00:00:00Z");
        let names = ["play.example.org", "192.0.2.7", "other.example.org", "192.0.2.8"].map(str::to_owned);
        assert_eq!(certificate.flaws(in_year(2005), &names[..2]), []);
        let strange = names[2..].iter().cloned().map(Flaw::Unnamed).collect::<Vec<_>>();
        assert_eq!(certificate.flaws(in_year(2005), &names), strange);
        let late = certificate.flaws(in_year(2012), &[]);
        assert!(late.len() == 1 && late[0].to_string().starts_with("the certificate ended on 2011-01-01"), "{late:?}");
        let early = certificate.flaws(in_year(2000), &[]);
        assert!(
            early.len() == 1 && early[0].to_string().starts_with("the certificate begins on 2001-01-01"),
            "{early:?}"
        );
    }

    #[test]
    fn each_flaw_of_the_files_has_its_message() {
        let folder = TempDir::new();
        let (one, other) = (write_files(&folder, 2001, 2101), write_files(&folder, 2002, 2102));
        let why = |certificate: &Path, key: &Path| {
            let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
            Certificate::read(&files).unwrap_err().to_string()
        };
        let nowhere = folder.path().join("nowhere.pem");
        for wrong in [why(&nowhere, &one.key), why(&one.certificate, &nowhere)] {
            assert!(wrong.starts_with("cannot read '") && wrong.contains("nowhere.pem': No such file"), "{wrong}");
        }
        let swapped = why(&one.key, &one.certificate);
        assert!(swapped.contains("2001-key.pem' contains no certificate"), "{swapped}");
        let twice = why(&one.certificate, &one.certificate);
        assert!(twice.contains("2001.pem' contains no private key"), "{twice}");
        let mixed = why(&one.certificate, &other.key);
        assert!(
            mixed.contains("2002-key.pem' does not belong to the certificate in") && mixed.contains("2001.pem'"),
            "{mixed}"
        );
        let junk = folder.file("junk.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        let junk = why(junk.as_ref(), &one.key);
        assert!(junk.contains("is unusable ("), "{junk}");
    }
}
