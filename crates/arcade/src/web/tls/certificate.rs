//! A certificate with its key, in two files of the operator.

use std::{
    fmt,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use humantime::format_rfc3339_seconds;
use rustls::{
    Error, InconsistentKeys,
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject as _},
    sign::CertifiedKey,
};
use webpki::{EndEntityCert, KeyUsage};

/// The longest file of a certificate or a key, in bytes.
const MAX_PEM: u64 = 1 << 20;

/// The files of a certificate and of its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    #[error("cannot read '{}': {error}", .path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("'{}' holds no certificate in PEM; --tls takes the file of the certificate first, then that of its key", .0.display())]
    NoCertificate(PathBuf),
    #[error("'{}' holds no private key in PEM without a passphrase; --tls takes the file of the certificate first, then that of its key", .0.display())]
    NoKey(PathBuf),
    #[error("the key in '{}' does not belong to the certificate in '{}'; give the two files that were made together", .0.key.display(), .0.certificate.display())]
    Mismatch(Files),
    #[error("the certificate in '{}' or its key cannot be used ({error}); make another pair", .files.certificate.display())]
    Unusable { files: Files, error: Error },
}

/// A certificate that can be used.
#[derive(Debug)]
pub(crate) struct Certificate {
    pub(crate) certified: CertifiedKey,
}

/// What browsers will not like about a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flaw {
    Expired(SystemTime),
    NotYetValid(SystemTime),
    /// It is not for this name of the hub.
    Unnamed(String),
}

impl Certificate {
    /// Reads both files, and checks that they belong together.
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

    /// When it ends.
    pub(crate) fn ends(&self) -> Option<SystemTime> {
        match self.verify(Duration::MAX) {
            Some(webpki::Error::CertExpired { not_after, .. }) => Some(system_time(not_after)),
            _ => None,
        }
    }

    /// What is wrong with it at this time, for a hub with these names.
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

    // What keeps somebody who trusts nobody from trusting it at this time. Its dates come before anything else.
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
                write!(f, "the certificate is not for '{name}'; get one for all that --name gives")
            }
        }
    }
}

/// The arithmetic of TLS.
pub(super) fn provider() -> CryptoProvider {
    rustls::crypto::ring::default_provider()
}

fn content(path: &Path) -> Result<Vec<u8>, CertificateError> {
    let mut content = vec![];
    let read = File::open(path).and_then(|file| file.take(MAX_PEM).read_to_end(&mut content));
    read.map(|_| content).map_err(|error| CertificateError::Unreadable { path: path.to_owned(), error })
}

// Certificates that never end say so by the last second of the year 9999, which systems have.
fn system_time(time: UnixTime) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(time.as_secs())
}

#[cfg(test)]
mod tests;
