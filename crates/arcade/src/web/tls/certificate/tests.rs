use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use testkit::TempDir;

use super::*;

// The files of a certificate for `play.example.org` and 192.0.2.7 for the years from `first` up to `last`.
fn made(folder: &TempDir, first: i32, last: i32) -> Files {
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
fn a_certificate_says_for_whom_and_until_when_it_is() {
    let folder = TempDir::new();
    let certificate = Certificate::read(&made(&folder, 2001, 2011)).unwrap();
    assert_eq!(format_rfc3339_seconds(certificate.ends().unwrap()).to_string(), "2011-01-01T00:00:00Z");
    let names = ["play.example.org", "192.0.2.7", "other.example.org", "192.0.2.8"].map(str::to_owned);
    assert_eq!(certificate.flaws(in_year(2005), &names[..2]), []);
    let strange = names[2..].iter().cloned().map(Flaw::Unnamed).collect::<Vec<_>>();
    assert_eq!(certificate.flaws(in_year(2005), &names), strange);
    let late = certificate.flaws(in_year(2012), &[]);
    assert!(late.len() == 1 && late[0].to_string().starts_with("the certificate ended on 2011-01-01"), "{late:?}");
    let early = certificate.flaws(in_year(2000), &[]);
    assert!(early.len() == 1 && early[0].to_string().starts_with("the certificate begins on 2001-01-01"), "{early:?}");
}

#[test]
fn what_is_wrong_with_the_files_is_said_in_a_sentence() {
    let folder = TempDir::new();
    let (one, other) = (made(&folder, 2001, 2101), made(&folder, 2002, 2102));
    let why = |certificate: &Path, key: &Path| {
        let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
        Certificate::read(&files).unwrap_err().to_string()
    };
    let nowhere = folder.path().join("nowhere.pem");
    for wrong in [why(&nowhere, &one.key), why(&one.certificate, &nowhere)] {
        assert!(wrong.starts_with("cannot read '") && wrong.contains("nowhere.pem': No such file"), "{wrong}");
    }
    let swapped = why(&one.key, &one.certificate);
    assert!(swapped.contains("2001-key.pem' holds no certificate"), "{swapped}");
    let twice = why(&one.certificate, &one.certificate);
    assert!(twice.contains("2001.pem' holds no private key"), "{twice}");
    let mixed = why(&one.certificate, &other.key);
    assert!(
        mixed.contains("2002-key.pem' does not belong to the certificate in") && mixed.contains("2001.pem'"),
        "{mixed}"
    );
    let junk = folder.file("junk.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    let junk = why(junk.as_ref(), &one.key);
    assert!(junk.contains("cannot be used ("), "{junk}");
}
