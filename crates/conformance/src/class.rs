mod student;
mod table;

use std::{
    collections::BTreeMap,
    fs::{self, File, TryLockError},
    io,
    num::NonZero,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, bail};
use clap::Parser;
use cmdkit::{EXIT_USAGE, Usage, UsageError, whole_number};
use conformance::{Format, Launcher as _, Limits, Network, Options, Outcome, Plan, Program, Rule, Tester, clean};
use sha2::{Digest as _, Sha256};

use self::{
    student::{Student, Work, file_stem},
    table::{Grade, Table},
};
use crate::{
    EXIT_UNFINISHED,
    args::{self, AtTerminal, LimitArgs, kind},
    secret::{Secret, hex},
};

pub(crate) const USAGE: Usage =
    Usage { code: EXIT_USAGE, example: "class submissions --to results --kind player -- ./player" };

const AFTER_HELP: &str = "\
Examples:
  conformance class submissions --to results --kind dealer --build make -- ./dealer {port} {rounds}
      builds and tests the dealer of each student
  conformance class submissions --to results --kind player --secret tulip -- python3 player.py
      uses secret seeds; docs/teachers.md explains how to repeat a test

Each directory in DIR belongs to one student. It is copied before it is built; \
{student} is its name. The results are results.csv, results.json, index.html \
and the directory students. Run the same command again to resume a stopped \
test, or to test new submissions. See docs/teachers.md.

Exit status: 0 if all students were tested, 1 if a file cannot be read or \
written, 2 for wrong usage, 4 if some students could not be tested or the test \
was stopped.";

/// Test the submissions of all students of a class
#[derive(Debug, Parser)]
#[command(name = "conformance", version, after_help = AFTER_HELP,
          override_usage = "conformance class DIR --to DIR --kind KIND [OPTIONS] -- COMMAND...")]
pub(crate) struct Args {
    #[arg(value_parser = ["class"], hide = true)]
    #[allow(dead_code, reason = "the name of the subcommand")]
    word: String,

    /// A directory with a directory for each student
    #[arg(value_name = "DIR")]
    class: PathBuf,

    /// The command that starts a student's program, in the student's directory
    #[arg(value_name = "COMMAND", last = true, required = true)]
    command: Vec<String>,

    /// The kind of the programs
    #[arg(long, value_name = "KIND", value_parser = kind())]
    kind: &'static Tester,

    /// The directory for the results
    #[arg(long, value_name = "DIR")]
    to: PathBuf,

    /// A shell command that builds a program in the student's directory
    #[arg(long, value_name = "COMMAND")]
    build: Option<String>,

    /// How long a build may take
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=36_000_u64, 60), default_value = "300", requires = "build")]
    build_time: u64,

    /// A secret word. It and the file `salt` in the results determine the seeds of each student, which appear in no report
    #[arg(long, value_name = "WORD")]
    secret: Option<String>,

    /// Test only these rules, separated by commas
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    only: Vec<String>,

    /// How many students to test at the same time [default: the number of processors, or 1 if programs share a network]
    #[arg(long, value_name = "COUNT", value_parser = whole_number(1..=1024_usize, 4))]
    jobs: Option<usize>,

    /// Test all students again, even if their files have not changed
    #[arg(long)]
    again: bool,

    /// How long the tester waits for each answer and for the program to exit
    #[arg(long, value_name = "SECONDS", value_parser = whole_number(1..=3600_u16, 10), default_value = "5")]
    patience: u16,

    #[command(flatten)]
    limits: LimitArgs,

    /// Which of the program's standard streams are at a pseudo-terminal
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    terminal: AtTerminal,
}

pub(crate) fn class(args: &Args) -> anyhow::Result<ExitCode> {
    let mut test = ClassTest::new(args)?;
    let students = Student::all(&args.class, &args.to)?;
    let _lock = test.prepare()?;
    test.secret = args.secret.as_ref().map(|word| Secret::of_class(word, &args.to)).transpose()?;
    args.limits.confine();
    let stop = conformance::stop_on_signal()?;
    // Students' programs could reach each other in a shared network.
    let is_shared = Network::new().context("cannot create a network for a program")?.is_shared();
    let processors = if is_shared { 1 } else { thread::available_parallelism().map_or(1, NonZero::get) };
    let jobs = args.jobs.unwrap_or(processors).min(students.len());
    let (grades, trouble) = test.test_all(&students, jobs, &stop);
    test.write_tables(&students, &grades)?;
    if let Some(trouble) = trouble {
        return Err(trouble);
    }
    let tested = grades.len();
    log(&format!("{tested} of {} students tested; see {}", students.len(), args.to.join("index.html").display()));
    Ok(if tested == students.len() { ExitCode::SUCCESS } else { EXIT_UNFINISHED.into() })
}

fn next<T>(open: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    open.lock().unwrap_or_else(PoisonError::into_inner).next()
}

fn log(line: &str) {
    cmdkit::print_stderr(&format!("{}\n", cmdkit::printable(line)));
}

struct ClassTest<'a> {
    args: &'a Args,
    only: Option<Vec<&'static Rule>>,
    options: Options,
    limits: Limits,
    secret: Option<Secret>,
    work: Work,
    reports: PathBuf,
    /// Reused by the next run.
    results: PathBuf,
}

type Grades = BTreeMap<String, Grade>;

impl<'a> ClassTest<'a> {
    fn new(args: &'a Args) -> anyhow::Result<Self> {
        let usage = |error: anyhow::Error| UsageError(error.to_string());
        let words = args.command.iter().map(|word| word.replace("{student}", "student")).collect();
        let tester = args.kind;
        Program::new(words, tester.usual, tester.known, tester.needed).map_err(usage)?;
        Ok(Self {
            args,
            only: args::only(tester, &args.only)?,
            options: Options { patience: Duration::from_secs(args.patience.into()), ..Options::default() },
            limits: args.limits.limits()?,
            secret: None,
            work: Work::new(args.to.join("work")),
            reports: args.to.join("students"),
            results: args.to.join("state"),
        })
    }

    // The returned lock file keeps other runs out of the directories.
    fn prepare(&self) -> anyhow::Result<File> {
        let to = &self.args.to;
        let context = || format!("cannot use {} for the results", to.display());
        for folder in [&self.reports, &self.results] {
            fs::create_dir_all(folder).with_context(context)?;
        }
        let lock = File::create(to.join(".lock")).with_context(context)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another test is writing its results to {}", to.display()),
            Err(TryLockError::Error(error)) => return Err(error).with_context(context),
        }
        self.work.sweep();
        Ok(lock)
    }

    fn test_all(&self, students: &[Student], jobs: usize, stop: &AtomicBool) -> (Grades, Option<anyhow::Error>) {
        let open = Mutex::new(students.iter());
        let done = Mutex::new((Grades::new(), None));
        thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while let Some(student) = next(&open) {
                        let graded = self.graded(student, stop);
                        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
                        match graded {
                            Ok(Some(grade)) => drop(done.0.insert(student.name.clone(), grade)),
                            Ok(None) => {}
                            Err(error) => {
                                done.1.get_or_insert(error.context(format!("cannot test {}", student.name)));
                            }
                        }
                    }
                });
            }
        });
        done.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    // Reuses a valid result; `None` if the test was stopped.
    fn graded(&self, student: &Student, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let path = self.result(&student.name);
        let old = Grade::load(&path);
        let stopped = stop.load(Ordering::SeqCst);
        let key = match self.key(student) {
            Ok(key) => key,
            Err(error) => {
                let lines = vec![format!("{error:#}")];
                let grade = self.untested(&student.name, "", "not readable", lines)?;
                grade.save(&path)?;
                return Ok(Some(grade));
            }
        };
        match old {
            Some(old) if old.key == key && !self.args.again => return Ok(Some(old)),
            _ if stopped => return Ok(None),
            _ => {}
        }
        let network = Network::new().context("cannot create a network for a program")?;
        let Some(mut grade) = network.enter(|| self.test(student, &key, stop))?? else { return Ok(None) };
        grade.before = old.map(|old| old.marks);
        grade.save(&path).with_context(|| format!("cannot write {}", path.display()))?;
        let of: u32 = self.rules().map(|rule| rule.points).sum();
        log(&format!("{}: {}, {} of {of} points", student.name, grade.outcome, grade.marks.points));
        Ok(Some(grade))
    }

    fn write_tables(&self, students: &[Student], grades: &Grades) -> anyhow::Result<()> {
        let table = Table {
            kind: self.args.kind.kind,
            rules: self.rules().filter(|rule| rule.is_required()).collect(),
            rows: students.iter().map(|student| (&*student.name, grades.get(&student.name))).collect(),
        };
        let files = [("results.csv", table.csv()), ("results.json", table.json()), ("index.html", table::page(&table))];
        for (name, content) in files {
            let path = self.args.to.join(name);
            cmdkit::replace_file(&path, content.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        self.work.sweep();
        Ok(())
    }

    fn result(&self, student: &str) -> PathBuf {
        self.results.join(format!("{}.json", file_stem(student)))
    }

    fn rules(&self) -> impl Iterator<Item = &'static Rule> {
        let is_meant = |rule: &&'static Rule| self.only.as_ref().is_none_or(|only| only.contains(rule));
        self.args.kind.rules.iter().copied().filter(is_meant)
    }

    fn options(&self, student: &str) -> Options {
        let seed = self.secret.as_ref().map_or(self.options.seed, |secret| secret.seed(student));
        Options { seed, ..self.options }
    }

    fn conditions(&self, student: &str) -> String {
        let Self { args: Args { kind, command, build, terminal, .. }, limits, .. } = self;
        let (version, kind, network) = (env!("CARGO_PKG_VERSION"), kind.kind, self.args.limits.network);
        let (build_time, options) = (self.build_time(), self.options(student));
        let mut rules: Vec<_> = self.rules().map(|rule| rule.id).collect();
        rules.sort_unstable();
        format!(
            "{version} {kind} {command:?} {build:?} {build_time:?} {options:?} {limits} {network} {terminal:?} {rules:?}"
        )
    }

    fn key(&self, student: &Student) -> anyhow::Result<String> {
        let files = student.fingerprint()?;
        Ok(hex(&Sha256::digest(format!("{files} {}", self.conditions(&student.name)))))
    }

    /// `None` if the test was stopped or did not finish. Errors are the tester's own.
    fn test(&self, student: &Student, key: &str, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let folder = self.work.folder()?;
        let graded = self.test_in(&folder, student, key, stop);
        let _ = student::remove(&folder);
        Ok(graded?.filter(|_| !stop.load(Ordering::SeqCst)))
    }

    fn test_in(&self, folder: &Path, student: &Student, key: &str, stop: &AtomicBool) -> anyhow::Result<Option<Grade>> {
        let name = &student.name;
        if let Err(error) = student.copy(folder) {
            // The empty key makes the next run retry: the disk may have been full.
            return self.untested(name, "", "not readable", vec![format!("{error:#}")]).map(Some);
        }
        if let Some(build) = &self.args.build
            && let Err(lines) = self.build(&filled(build, &quoted(name)), folder)?
        {
            return self.untested(name, key, "build failed", lines).map(Some);
        }
        if stop.load(Ordering::SeqCst) {
            return Ok(None);
        }
        let words = self.args.command.iter().map(|word| filled(word, name)).collect();
        let tester = self.args.kind;
        let program = match Program::new(words, tester.usual, tester.known, tester.needed) {
            Ok(program) => program,
            // The command is valid, so the student's name must contain braces.
            Err(error) => return self.untested(name, key, "not readable", vec![format!("{error:#}")]).map(Some),
        };
        let program = self.args.terminal.of(program).with_limits(self.limits).in_folder(folder);
        let plan = Plan { only: self.only.clone(), ..Plan::from(self.options(name)) };
        let report = tester.run(&program, &plan)?;
        for (ending, format) in [("txt", Format::Text), ("html", Format::Html), ("json", Format::Json)] {
            self.write(name, ending, &report.write(format))?;
        }
        // Not stored, so that the next run retries.
        Ok(Some(Grade::tested(name, key, &report)).filter(|_| report.outcome() != Outcome::Unfinished))
    }

    fn build_time(&self) -> Duration {
        Duration::from_secs(self.args.build_time)
    }

    fn build(&self, command: &str, folder: &Path) -> anyhow::Result<Result<(), Vec<String>>> {
        let limits = Limits { time: self.args.build_time, ..self.limits };
        let script = format!("exec >&2\n{command}");
        let program = Program::fixed(vec!["sh".into(), "-c".into(), script]).with_limits(limits).in_folder(folder);
        let mut run = program.start(&[]).context("cannot start the build")?;
        let exit = run.exit(Instant::now() + self.build_time());
        let end = match (run.limit(), exit) {
            (None, Some(exit)) if exit.code == Some(0) => return Ok(Ok(())),
            (Some(limit), _) => format!("the build was ended because it exceeded the limit {limit}"),
            (None, Some(exit)) => format!("the build ended with {exit}"),
            (None, None) => format!("the build took more than {} s", self.args.build_time),
        };
        let lines = run.errors();
        Ok(Err(lines.into_iter().chain([end]).collect()))
    }

    fn untested(&self, student: &str, key: &str, outcome: &str, lines: Vec<String>) -> anyhow::Result<Grade> {
        let text = clean(&format!("{outcome}\n\n{}\n", lines.join("\n")));
        self.write(student, "txt", &text)?;
        self.write(student, "html", &table::untested_page(student, &text))?;
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
