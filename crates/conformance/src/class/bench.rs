//! Builds and tests what one student has handed in.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use conformance::{Format, Launcher as _, Limits, Options, Outcome, Plan, Program, Tester};
use sha2::{Digest as _, Sha256};

use super::{
    grade::Grade,
    page,
    student::{Student, hex},
};
use crate::confinement::AtTerminal;

/// What is done for each student.
#[derive(Debug)]
pub(super) struct Bench {
    pub(super) tester: &'static Tester,
    pub(super) command: Vec<String>,
    pub(super) build: Option<String>,
    pub(super) build_time: Duration,
    pub(super) options: Options,
    pub(super) limits: Limits,
    pub(super) network: bool,
    pub(super) terminal: AtTerminal,
    pub(super) secret: Option<String>,
    /// Where copies are built and tested.
    pub(super) work: PathBuf,
    /// Where the reports for students go.
    pub(super) reports: PathBuf,
    /// Where the results stay by which the next run goes.
    pub(super) results: PathBuf,
}

impl Bench {
    /// The file of a student's result.
    pub(super) fn result(&self, student: &str) -> PathBuf {
        self.results.join(format!("{student}.json"))
    }

    /// What a result depends on besides the files.
    fn conditions(&self) -> String {
        let Self { tester, command, build, build_time, options, limits, network, secret, terminal, .. } = self;
        let version = env!("CARGO_PKG_VERSION");
        let kind = tester.kind;
        format!(
            "{version} {kind} {command:?} {build:?} {build_time:?} {options:?} {limits} {network} {terminal:?} {secret:?}"
        )
    }

    /// The key of a student's result, as long as nothing changes.
    pub(super) fn key(&self, student: &Student) -> anyhow::Result<String> {
        let files = student.fingerprint()?;
        Ok(hex(&Sha256::digest(format!("{files} {}", self.conditions()))))
    }

    /// Builds and tests, and writes the reports. `None` if it was stopped.
    ///
    /// # Errors
    /// When the tester itself cannot go on.
    pub(super) fn test(&self, student: &Student, key: &str, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let folder = self.work.join(&student.name);
        let graded = self.test_in(&folder, student, key, stop);
        // It is removed before the next run otherwise.
        let _ = fs::remove_dir_all(&folder);
        Ok(graded?.filter(|_| !stop.load(Ordering::SeqCst)))
    }

    fn test_in(&self, folder: &Path, student: &Student, key: &str, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let name = &student.name;
        if let Err(error) = student.copy(folder) {
            // Without a key, so that it is tried again: the disk may have been full.
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
        let program = Program::new(words, tester.usual, tester.known, tester.needed)?;
        let program = self.terminal.of(program).with_limits(self.limits).in_folder(folder);
        // Without a secret all have the same.
        let seed = self.secret.as_ref().map_or(self.options.seed, |secret| seed(secret, name));
        let options = Options { seed, ..self.options };
        let report = tester.run(&program, &Plan::from(options))?;
        for (ending, format) in [("txt", Format::Text), ("html", Format::Html), ("json", Format::Json)] {
            self.write(name, ending, &report.write(format))?;
        }
        // What went wrong with the tester may go right next time.
        Ok(Some(Grade::tested(name, key, &report)).filter(|_| report.outcome() != Outcome::Unfinished))
    }

    // Or the last lines of a build that failed.
    fn build(&self, command: &str, folder: &Path) -> anyhow::Result<Result<(), Vec<String>>> {
        let limits = Limits { time: self.build_time.as_secs(), ..self.limits };
        // Of standard error the last lines are kept, however many there are.
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

    /// The result of a student of whom nothing can be tested.
    pub(super) fn untested(
        &self,
        student: &str,
        key: &str,
        outcome: &str,
        lines: Vec<String>,
    ) -> anyhow::Result<Grade> {
        let text = format!("{outcome}\n\n{}\n", lines.join("\n"));
        self.write(student, "txt", &text)?;
        self.write(student, "html", &page::untested(student, &text))?;
        // One of an earlier version says nothing of this one.
        match fs::remove_file(self.report(student, "json")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        Ok(Grade::untested(student, key, outcome, lines))
    }

    fn report(&self, student: &str, ending: &str) -> PathBuf {
        self.reports.join(format!("{student}.{ending}"))
    }

    fn write(&self, student: &str, ending: &str, content: &str) -> anyhow::Result<()> {
        let path = self.report(student, ending);
        let written = cmdkit::replace_file(&path, content.as_bytes());
        written.with_context(|| format!("cannot write {}", path.display()))
    }
}

// From 1 to 2147483646, which is what the generators of the games take.
fn seed(secret: &str, student: &str) -> u32 {
    let hash = Sha256::digest(format!("{secret}\0{student}"));
    let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    u32::try_from(number % 2_147_483_646 + 1).unwrap_or(1)
}

fn filled(text: &str, student: &str) -> String {
    text.replace("{student}", student)
}

// As one word of a shell.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "._-+@".contains(letter);
    if name.chars().all(is_plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_follow_from_the_secret_and_the_student() {
        assert_eq!(seed("tulip", "anna"), seed("tulip", "anna"));
        assert_ne!(seed("tulip", "anna"), seed("tulip", "ben"));
        assert_ne!(seed("tulip", "anna"), seed("rose", "anna"));
    }

    #[test]
    fn the_name_of_a_student_is_one_word_of_a_shell() {
        assert_eq!(filled("make NAME={student}", &quoted("anna-1")), "make NAME=anna-1");
        assert_eq!(filled("echo {student}", &quoted("O'Neil; rm")), "echo 'O'\\''Neil; rm'");
    }
}
