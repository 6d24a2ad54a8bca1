use std::{
    collections::BTreeMap,
    io,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context as _, bail};
use cmdkit::{read_file, replace_file};
use netcore::HostId;
use serde::{Deserialize, Serialize};

/// Stored reports. The operator clears them.
pub(crate) const MAX_REPORTS: usize = 1_000;
/// Stored reports of one host.
pub(crate) const MAX_REPORTS_OF_HOST: usize = 20;
/// In bytes.
pub(crate) const MAX_REPORT_TEXT: usize = 500;
/// JSON may need six bytes for one of the text.
const MAX_FILE: usize = MAX_REPORTS * 8 * MAX_REPORT_TEXT;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reason {
    Name,
    Talk,
    Cheating,
    Leaving,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// Assigned when stored.
    #[serde(default)]
    pub(crate) id: u64,
    /// In milliseconds since the Unix epoch.
    pub(crate) at: u64,
    pub(crate) r#match: String,
    pub(crate) room: String,
    pub(crate) seat: String,
    pub(crate) name: String,
    pub(crate) reason: Reason,
    pub(crate) text: String,
    /// The host of the author.
    pub(crate) host: HostId,
}

#[derive(Debug)]
pub(crate) struct Reports {
    path: PathBuf,
    reports: Mutex<BTreeMap<u64, Report>>,
}

#[derive(Debug)]
pub(crate) enum ReportError {
    /// The host, or all hosts together, have reached the limit.
    TooMany,
    Failed(anyhow::Error),
}

impl Reports {
    /// A missing file contains no reports.
    pub(crate) fn open(path: PathBuf) -> anyhow::Result<Self> {
        let reports = match read_file(&path, MAX_FILE) {
            Ok(bytes) if bytes.len() > MAX_FILE => bail!("'{}' is larger than {MAX_FILE} bytes", path.display()),
            Ok(bytes) => serde_json::from_slice::<Vec<Report>>(&bytes)
                .with_context(|| format!("'{}' is damaged; repair it, or remove it", path.display()))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => vec![],
            Err(error) => return Err(error).with_context(|| format!("cannot read '{}'", path.display())),
        };
        Ok(Self { path, reports: Mutex::new(reports.into_iter().map(|report| (report.id, report)).collect()) })
    }

    fn reports(&self) -> MutexGuard<'_, BTreeMap<u64, Report>> {
        self.reports.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn list(&self) -> Vec<Report> {
        self.reports().values().cloned().collect()
    }

    /// Replaces an earlier report of the host about the same seat of a match.
    pub(crate) fn add(&self, mut report: Report) -> Result<(), ReportError> {
        let mut reports = self.reports();
        let mut after = reports.clone();
        let is_same =
            |other: &Report| (other.host, &other.r#match, &other.seat) == (report.host, &report.r#match, &report.seat);
        after.retain(|_, other| !is_same(other));
        let of_host = after.values().filter(|other| other.host == report.host).count();
        if after.len() >= MAX_REPORTS || of_host >= MAX_REPORTS_OF_HOST {
            return Err(ReportError::TooMany);
        }
        report.id = reports.last_key_value().map_or(1, |(last, _)| last + 1);
        after.insert(report.id, report);
        self.write(&after).map_err(ReportError::Failed)?;
        *reports = after;
        Ok(())
    }

    pub(crate) fn clear(&self, id: u64) -> anyhow::Result<()> {
        let mut reports = self.reports();
        let mut after = reports.clone();
        after.remove(&id).with_context(|| format!("no report {id}; `arcade report list` shows all reports"))?;
        self.write(&after)?;
        *reports = after;
        Ok(())
    }

    fn write(&self, reports: &BTreeMap<u64, Report>) -> anyhow::Result<()> {
        let bytes = serde_json::to_vec(&reports.values().collect::<Vec<_>>())?;
        replace_file(&self.path, &bytes).with_context(|| format!("cannot write '{}'", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn report(host: u64, seat: &str) -> Report {
        Report {
            id: 0,
            at: 7,
            r#match: "m-1".into(),
            room: "nuggets-1".into(),
            seat: seat.into(),
            name: "Eve".into(),
            reason: Reason::Name,
            text: String::new(),
            host: HostId::V6Network(host),
        }
    }

    #[test]
    fn reports_are_stored_once_bounded_and_cleared() {
        let directory = testkit::TempDir::new();
        let path = directory.path().join("reports");
        let reports = Reports::open(path.clone()).unwrap();
        reports.add(report(1, "A")).unwrap();
        reports.add(Report { reason: Reason::Talk, ..report(1, "A") }).unwrap();
        reports.add(report(2, "A")).unwrap();
        let again = Reports::open(path.clone()).unwrap();
        let list: Vec<_> = again.list().iter().map(|report| (report.id, report.reason)).collect();
        assert_eq!(list, [(2, Reason::Talk), (3, Reason::Name)]);
        again.clear(2).unwrap();
        assert!(again.clear(2).unwrap_err().to_string().contains("no report 2"));
        let more = (0..100).filter(|number| again.add(report(2, &number.to_string())).is_ok()).count();
        assert_eq!(more, MAX_REPORTS_OF_HOST - 1);
        assert_eq!(Reports::open(path.clone()).unwrap().list(), again.list());
        fs::write(&path, "nonsense").unwrap();
        assert!(format!("{:#}", Reports::open(path).unwrap_err()).contains("is damaged"));
    }
}
