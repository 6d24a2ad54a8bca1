//! Builds and tests the submission of one student.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use conformance::{Format, Launcher as _, Limits, Options, Outcome, Plan, Program, Rule, Tester, clean};
use sha2::{Digest as _, Sha256};

use super::{
    grade::Grade,
    page,
    student::{Student, file_stem},
    work::{self, Work},
};
use crate::{
    confinement::AtTerminal,
    secret::{Secret, hex},
};

/// The steps for each student.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) tester: &'static Tester,
    pub(super) command: Vec<String>,
    pub(super) build: Option<String>,
    pub(super) build_time: Duration,
    /// The selected rules, or `None` for all rules.
    pub(super) only: Option<Vec<&'static Rule>>,
    pub(super) options: Options,
    pub(super) limits: Limits,
    pub(super) network: bool,
    pub(super) terminal: AtTerminal,
    pub(super) secret: Option<Secret>,
    /// The directory for the copies that are built and tested.
    pub(super) work: Work,
    /// The directory of the reports for students.
    pub(super) reports: PathBuf,
    /// The directory of the results, which the next run reuses.
    pub(super) results: PathBuf,
}

impl Bench {
    /// The file of a student's result.
    pub(super) fn result(&self, student: &str) -> PathBuf {
        self.results.join(format!("{}.json", file_stem(student)))
    }

    /// The selected rules.
    pub(super) fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        let is_meant = |rule: &&'static Rule| self.only.as_ref().is_none_or(|only| only.contains(rule));
        self.tester.rules.iter().copied().filter(is_meant)
    }

    /// The options of a student's tests. Without a secret, they are the same for all students.
    fn options(&self, student: &str) -> Options {
        let seed = self.secret.as_ref().map_or(self.options.seed, |secret| secret.seed(student));
        Options { seed, ..self.options }
    }

    /// The inputs of a result other than the student's files.
    fn conditions(&self, student: &str) -> String {
        let Self { tester, command, build, build_time, limits, network, terminal, .. } = self;
        let (version, kind, options) = (env!("CARGO_PKG_VERSION"), tester.kind, self.options(student));
        let mut rules: Vec<_> = self.rules().map(|rule| rule.id).collect();
        rules.sort_unstable();
        format!(
            "{version} {kind} {command:?} {build:?} {build_time:?} {options:?} {limits} {network} {terminal:?} {rules:?}"
        )
    }

    /// The key of a student's result. It is constant unless an input changes.
    pub(super) fn key(&self, student: &Student) -> anyhow::Result<String> {
        let files = student.fingerprint()?;
        Ok(hex(&Sha256::digest(format!("{files} {}", self.conditions(&student.name)))))
    }

    /// Builds and tests a submission, and writes the reports. `None` if the test was stopped or did not finish.
    ///
    /// # Errors
    /// If the tester itself cannot continue.
    pub(super) fn test(&self, student: &Student, key: &str, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let folder = self.work.folder()?;
        let graded = self.test_in(&folder, student, key, stop);
        // If it cannot be removed now, the next run retries.
        let _ = work::remove(&folder);
        Ok(graded?.filter(|_| !stop.load(Ordering::SeqCst)))
    }

    fn test_in(&self, folder: &Path, student: &Student, key: &str, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let name = &student.name;
        if let Err(error) = student.copy(folder) {
            // The result has no key, so that the next run retries: the disk may have been full.
            return self.untested(name, "", "not readable", vec![format!("{error:#}")]).map(Some);
        }
        if let Some(build) = &self.build
            && let Err(lines) = self.build(&filled(build, &quoted(name)), folder)?
        {
            return self.untested(name, key, "build failed", lines).map(Some);
        }
        if stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let words = self.command.iter().map(|word| filled(word, name)).collect();
        let tester = self.tester;
        let program = match Program::new(words, tester.usual, tester.known, tester.needed) {
            Ok(program) => program,
            // The command is correct, but the student's name contains braces.
            Err(error) => return self.untested(name, key, "not readable", vec![format!("{error:#}")]).map(Some),
        };
        let program = self.terminal.of(program).with_limits(self.limits).in_folder(folder);
        let plan = Plan { only: self.only.clone(), ..Plan::from(self.options(name)) };
        let report = tester.run(&program, &plan)?;
        for (ending, format) in [("txt", Format::Text), ("html", Format::Html), ("json", Format::Json)] {
            self.write(name, ending, &report.write(format))?;
        }
        // An error of the tester may not occur again in the next run.
        Ok(Some(Grade::tested(name, key, &report)).filter(|_| report.outcome() != Outcome::Unfinished))
    }

    // Builds a submission, or returns the last lines of the failed build.
    fn build(&self, command: &str, folder: &Path) -> anyhow::Result<Result<(), Vec<String>>> {
        let limits = Limits { time: self.build_time.as_secs(), ..self.limits };
        // Only the last lines of standard error are kept.
        let script = format!("exec >&2\n{command}");
        let program = Program::fixed(vec!["sh".into(), "-c".into(), script]).with_limits(limits).in_folder(folder);
        let mut run = program.start(&[]).context("cannot start the build")?;
        let exit = run.exit(Instant::now() + self.build_time);
        let end = match (run.limit(), exit) {
            (None, Some(exit)) if exit.code == Some(0) => return Ok(Ok(())),
            (Some(limit), _) => format!("the build was ended because it exceeded the limit {limit}"),
            (None, Some(exit)) => format!("the build ended with {exit}"),
            (None, None) => format!("the build took more than {} s", self.build_time.as_secs()),
        };
        let lines = run.errors();
        Ok(Err(lines.into_iter().chain([end]).collect()))
    }

    /// The result of a student whose program cannot be tested.
    pub(super) fn untested(
        &self,
        student: &str,
        key: &str,
        outcome: &str,
        lines: Vec<String>,
    ) -> anyhow::Result<Grade> {
        let text = clean(&format!("{outcome}\n\n{}\n", lines.join("\n")));
        self.write(student, "txt", &text)?;
        self.write(student, "html", &page::untested(student, &text))?;
        // A report of an earlier version does not apply to this one.
        match fs::remove_file(self.report(student, "json")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        Ok(Grade::untested(student, key, outcome, lines))
    }

    fn report(&self, student: &str, ending: &str) -> PathBuf {
        self.reports.join(format!("{}.{ending}", file_stem(student)))
    }

    fn write(&self, student: &str, ending: &str, content: &str) -> anyhow::Result<()> {
        let path = self.report(student, ending);
        let written = cmdkit::replace_file(&path, content.as_bytes());
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

fn filled(text: &str, student: &str) -> String {
    text.replace("{student}", student)
}

// Quotes a name as a single shell word.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-+@".contains(letter);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_name_is_quoted_for_the_shell() {
        assert_eq!(filled("make NAME={student}", &quoted("anna-1")), "make NAME=anna-1");
        assert_eq!(filled("echo {student}", &quoted("O'Neil; rm")), "echo 'O'\\''Neil; rm'");
    }
}
