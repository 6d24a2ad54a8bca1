//! `conformance class`: a table of students' submissions.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use testkit::{eventually_within, programs::PLAIN};

const REFERENCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/reference");

fn python() -> PathBuf {
    testkit::programs::python().expect("these tests need python3")
}

struct Class {
    folder: TempDir,
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

impl Class {
    fn new() -> Self {
        let class = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(class.path("class")).unwrap();
        class
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    // Writes a program in Python that begins with `front` and is otherwise correct.
    fn hands_in(&self, student: &str, front: &str) {
        let folder = self.path("class").join(student);
        fs::create_dir_all(&folder).unwrap();
        let code = format!(
            "import runpy, sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '{REFERENCES}')\n{front}\n\
             runpy.run_path('{REFERENCES}/mastermind_play.py', run_name='__main__')\n"
        );
        fs::write(folder.join("program.txt"), code).unwrap();
    }

    fn command(&self, options: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
        let build =
            "grep -q . program.txt && mv program.txt {student}.py || { echo nothing to build for {student}; exit 1; }";
        command.arg("class").arg(self.path("class")).arg("--to").arg(self.path("results"));
        command.args(["--kind", "mastermind-text", "--build", build]).args(options);
        command.arg("--").arg(python()).arg(PLAIN).arg("{student}.py");
        command
    }

    fn tested(&self, options: &[&str]) -> Output {
        self.command(options).output().unwrap()
    }

    fn result(&self, name: &str) -> String {
        fs::read_to_string(self.path("results").join(name)).unwrap()
    }

    fn row(&self, student: &str) -> Vec<String> {
        let table = self.result("results.csv");
        let row = table.lines().find(|line| line.starts_with(&format!("{student},")));
        row.unwrap_or_else(|| panic!("{student}: {table}")).split(',').map(str::to_owned).collect()
    }
}

#[test]
fn class_is_retested_only_where_submissions_changed() {
    let class = Class::new();
    let faulty =
        "import faults; faults.run('mastermind-text', 'counts-digits-twice', sys.path[0] + '/mastermind_play.py')";
    class.hands_in("anna", "");
    class.hands_in("ben", faulty);
    class.hands_in("cleo", "sys.exit('no game')");
    fs::create_dir(class.path("class/dora")).unwrap();
    fs::write(class.path("class/dora/program.txt"), "").unwrap();

    let ended = class.tested(&["--patience", "60"]);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("anna: passed, 36 of 36 points") && said.contains("4 of 4 students tested"), "{said}");
    assert_eq!(class.row("anna")[..7], ["anna", "passed", "36", "36", "", "", ""]);
    let ben = class.row("ben");
    assert!(ben[1] == "failed" && ben[2].parse::<u32>().unwrap() < 36, "{ben:?}");
    assert_eq!(class.row("cleo")[1], "failed");
    assert_eq!(class.row("dora")[..3], ["dora", "build failed", "0"]);
    assert!(class.result("students/cleo.txt").contains("standard error: no game"));
    assert!(class.result("students/dora.html").contains("nothing to build for dora"));
    let page = class.result("index.html");
    assert!(page.contains("<a href=\"students/ben.html\">ben</a>") && page.contains("1 passed all rules"), "{page}");
    assert!(class.path("class/anna/program.txt").exists() && !class.path("results/work").exists());

    class.hands_in("ben", "");
    class.hands_in("anna", faulty);
    let ended = class.tested(&["--patience", "60"]);
    let said = text(&ended.stderr);
    assert_eq!(said.lines().count(), 3, "{said}");
    let json: Value = serde_json::from_str(&class.result("results.json")).unwrap();
    let (anna, ben) = (&json["students"][0], &json["students"][1]);
    assert_eq!(ben["outcome"], "passed");
    assert_eq!(anna["change"]["broken_now"], ben["change"]["kept_now"]);
    assert_ne!(anna["change"]["broken_now"][0], Value::Null, "{json}");
    assert_eq!(class.tested(&["--patience", "60"]).stderr.split(|&byte| byte == b'\n').count(), 2);

    let ended = class.tested(&["--patience", "60", "--only", "feedback,turns"]);
    assert!(text(&ended.stderr).contains("4 of 4 students tested"), "{}", text(&ended.stderr));
    let table = class.result("results.csv");
    assert!(table.lines().next().unwrap().ends_with(",broken now,feedback,turns"), "{table}");
    let [anna, ben, cleo] = ["anna", "ben", "cleo"].map(|student| class.row(student)[7..].to_vec());
    assert!(anna[0] == "0" && ben[0].parse::<u32>().unwrap() > 0, "{table}");
    assert_eq!(cleo, ["not tested"; 2]);
    let ended = class.tested(&["--only", "feedback,nonsense"]);
    assert_eq!(ended.status.code(), Some(2), "{}", text(&ended.stderr));
}

#[test]
#[cfg(target_os = "linux")]
fn programs_of_different_students_cannot_connect() {
    let limits = Command::new(env!("CARGO_BIN_EXE_conformance")).arg("limits").output().unwrap();
    if !text(&limits.stdout).starts_with("network: only loopback") {
        eprintln!("skipped: without namespaces, the programs share a network");
        return;
    }
    let class = Class::new();
    let (port, told) = (class.path("port"), class.path("told"));
    let paths = format!("import os, socket, time\nport, told = '{}', '{}'\n", port.display(), told.display());
    // Each program waits for the other, so both must run at the same time.
    let listens = "
if not os.path.exists(told):
    server = socket.create_server(('127.0.0.1', 0))
    own = f'{port}-{os.getpid()}-{time.monotonic()}'
    open(own, 'w').write(str(server.getsockname()[1]))
    os.replace(own, port)
while not os.path.exists(told):
    time.sleep(0.01)
";
    let connects = "
while not os.path.exists(port):
    time.sleep(0.01)
if not os.path.exists(told):
    try:
        socket.create_connection(('127.0.0.1', int(open(port).read())))
        how = 'reached'
    except OSError as why:
        how = str(why)
    listed = len(open('/proc/net/tcp').readlines()) - 1
    own = f'{told}-{os.getpid()}-{time.monotonic()}'
    open(own, 'w').write(f'{how}, {listed} sockets')
    os.replace(own, told)
";
    class.hands_in("anna", &format!("{paths}{listens}"));
    class.hands_in("ben", &format!("{paths}{connects}"));
    let ended = class.tested(&["--patience", "120", "--jobs", "2"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(fs::read_to_string(told).unwrap(), "[Errno 111] Connection refused, 0 sockets");
    assert_eq!([class.row("anna")[1].as_str(), class.row("ben")[1].as_str()], ["passed"; 2]);
}

#[test]
fn students_on_a_shared_network_are_tested_sequentially() {
    let class = Class::new();
    let log = class.path("log");
    for student in ["anna", "ben"] {
        class.hands_in(student, &format!("open('{}', 'a').write('{student}\\n')", log.display()));
    }
    let ended = class.tested(&["--patience", "60", "--network"]);
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    let log = fs::read_to_string(log).unwrap();
    let mut order: Vec<&str> = log.lines().collect();
    assert!(order.len() > 4, "{log}");
    order.dedup();
    assert_eq!(order.len(), 2, "{log}");
}

#[test]
fn last_lines_of_a_failed_build_are_shown() {
    let class = Class::new();
    class.hands_in("eve", "");
    let build = "yes 'a warning that the compiler repeats' | head -c 2000000; echo the mistake itself; exit 1";
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("class").arg(class.path("class")).arg("--to").arg(class.path("results"));
    assert!(command.args(["--kind", "player", "--build", build, "--", "true"]).output().unwrap().status.success());
    let page = class.result("students/eve.txt");
    assert!(page.contains("the mistake itself") && page.lines().count() < 60, "{page}");
}

#[test]
fn stopped_class_resumes() {
    let class = Class::new();
    class.hands_in("anna", "");
    class.hands_in("ben", "import time; time.sleep(1000)");
    let options = ["--patience", "600", "--jobs", "1"];
    let mut first = class.command(&options).stderr(Stdio::null()).spawn().unwrap();
    // Ben's test never ends.
    eventually_within(Duration::from_secs(120), "anna is not tested", || {
        assert!(first.try_wait().unwrap().is_none());
        // By then, Anna's work directory is removed.
        class.path("results/state/anna.json").exists()
            && fs::read_dir(class.path("results/work")).is_ok_and(|mut folders| folders.next().is_some())
    });
    let busy = class.tested(&options);
    assert!(text(&busy.stderr).contains("another test is writing its results to "), "{}", text(&busy.stderr));
    let asked = Command::new("kill").args(["-TERM", &first.id().to_string()]).status().unwrap();
    assert!(asked.success());
    assert_eq!(first.wait().unwrap().code(), Some(4));
    assert_eq!(class.row("ben")[1], "not tested yet");
    class.hands_in("ben", "");
    let ended = class.tested(&options);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.starts_with("ben: passed") && class.row("anna")[1] == "passed", "{said}");
}

#[test]
fn secret_seeds_are_unreported_but_repeatable() {
    let class = Class::new();
    for student in ["anna", "ben"] {
        fs::create_dir(class.path("class").join(student)).unwrap();
    }
    let program = ["--", "sh", "-c", "echo game $1 >&2; exit 3", "sh", "{seed}", "{map}"];
    let tested = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
        command.arg("class").arg(class.path("class")).arg("--to").arg(class.path("results"));
        command.args(["--kind", "nuggets-server", "--secret", "tulip"]).args(program);
        let ended = command.output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        text(&ended.stderr)
    };
    tested();
    for student in ["anna", "ben"] {
        let [text, html, json] =
            ["txt", "html", "json"].map(|ending| class.result(&format!("students/{student}.{ending}")));
        assert!(text.contains("; secret seed\n") && html.contains("<p>secret seed</p>"), "{text}");
        assert!(text.contains("seed (secret)"), "{text}");
        let json: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(json["seed"], Value::Null);
    }
    let salt = class.path("results/salt");
    assert_eq!(fs::metadata(&salt).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(tested().lines().count(), 1);

    let games = |report: &str| -> BTreeSet<String> {
        let games = report.lines().filter_map(|line| line.trim().strip_prefix("standard error: game "));
        // Some programs must find their own seed. They get the path of the map instead.
        games.filter(|game| game.parse::<u32>().is_ok()).map(str::to_owned).collect()
    };
    let repeated = |student: &str| {
        let mut own = Command::new(env!("CARGO_BIN_EXE_conformance"));
        own.args(["nuggets-server", "--secret", "tulip", "--salt"]).arg(&salt).args(["--student", student]);
        games(&text(&own.args(program).output().unwrap().stdout))
    };
    let [anna, ben] = ["anna", "ben"].map(|student| games(&class.result(&format!("students/{student}.txt"))));
    assert!(!anna.is_empty() && anna != ben, "{anna:?}");
    assert_eq!((repeated("anna"), repeated("ben")), (anna, ben));
}

// Removes root's capability to use every directory.
fn without_rights() -> &'static [&'static str] {
    let is_root = fs::metadata("/proc/self").is_ok_and(|folder| std::os::unix::fs::MetadataExt::uid(&folder) == 0);
    if is_root { &["setpriv", "--bounding-set=-all", "--inh-caps=-all"] } else { &["env"] }
}

#[test]
fn inaccessible_directories_of_earlier_runs_are_tolerated() {
    let class = Class::new();
    // Makes a directory inaccessible, and the parent of all work directories read-only.
    class.hands_in(
        "anna",
        "import os; os.path.exists('closed') or os.makedirs('closed/inner'); os.chmod('closed', 0); os.chmod('..', 0o500)",
    );
    let closed = class.path("results/work/anna/closed");
    fs::create_dir_all(closed.join("inner")).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(class.path("results/work"), fs::Permissions::from_mode(0o000)).unwrap();
    let own = class.command(&["--patience", "60", "--again", "--jobs", "1"]);
    let before = without_rights();
    for _ in 0..2 {
        let mut run = Command::new(before[0]);
        let ended = run.args(&before[1..]).arg(own.get_program()).args(own.get_args()).output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
        assert_eq!(class.row("anna")[1], "passed", "{}", class.result("students/anna.txt"));
        assert!(!class.path("results/work").exists());
    }
}

#[test]
fn student_names_are_escaped_in_terminal_and_spreadsheet() {
    let class = Class::new();
    let steering = "=1\u{1b}[2J\u{9b}1m\u{202e}b";
    let long = "ż".repeat(125);
    for student in [steering, "{x}", &format!("{long}1"), &format!("{long}2")] {
        fs::create_dir(class.path("class").join(student)).unwrap();
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("class").arg(class.path("class")).arg("--to").arg(class.path("results"));
    let ended = command.args(["--kind", "player", "--build", "exit 1", "--", "true"]).output().unwrap();
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains(r"=1\u{1b}[2J\u{9b}1m\u{202e}b: build failed"), "{said}");
    assert!(!said.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{said}");
    assert!(class.result("results.csv").contains(&format!("\r\n'{steering},build failed,0,")));
    let count = |folder: &str| fs::read_dir(class.path("results").join(folder)).unwrap().count();
    assert_eq!((count("state"), count("students")), (4, 8));
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    command.arg("class").arg(class.path("class")).arg("--to").arg(class.path("results"));
    let ended = command.args(["--kind", "player", "--", "./{student}", "{host}{port}"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", text(&ended.stderr));
    assert_eq!(class.row("{x}")[1], "not readable");
}

#[test]
fn wrong_usage_is_reported_before_any_test() {
    let class = Class::new();
    class.hands_in("anna", "");
    let results = class.path("results");
    let told = |kind: &str, command: &[&str]| {
        let mut own = Command::new(env!("CARGO_BIN_EXE_conformance"));
        own.arg("class").arg(class.path("class")).arg("--to").arg(&results).args(["--kind", kind, "--"]).args(command);
        let ended = own.output().unwrap();
        (ended.status.code(), text(&ended.stderr))
    };
    let (code, said) = told("player", &["./player", "{prot}"]);
    assert!(code == Some(2) && said.contains("unknown placeholder '{prot}'"), "{said}");
    assert_eq!(told("croupier", &["./player"]).0, Some(2));
    assert!(!Path::new(&results).exists());
}

#[test]
#[ignore = "tests a Python dealer with all scenarios; run by .ci/run --release"]
fn commands_in_teachers_md_work() {
    let page = include_str!("../../../../docs/teachers.md");
    let commands: Vec<&str> = page.lines().filter(|line| line.starts_with("conformance ")).collect();
    assert_eq!(commands.len(), 5, "{commands:?}");
    let folder = tempfile::tempdir().unwrap();
    // Each command runs Ben's program.
    let ben = folder.path().join("submissions/ben");
    fs::create_dir_all(&ben).unwrap();
    let reference =
        |name: &str| format!("#!/bin/sh\nexec '{}' {PLAIN} '{REFERENCES}/{name}.py' \"$@\"\n", python().display());
    // A machine may lack `make`.
    let make = folder.path().join("bin/make");
    fs::create_dir(folder.path().join("bin")).unwrap();
    fs::write(&make, "#!/bin/sh\ncp dealer.sh dealer && chmod +x dealer\n").unwrap();
    fs::set_permissions(&make, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    fs::write(ben.join("dealer.sh"), reference("dealer")).unwrap();
    let player = format!(
        "import runpy, sys\nsys.path.insert(0, '{REFERENCES}')\nrunpy.run_path('{REFERENCES}/player.py', run_name='__main__')"
    );
    fs::write(ben.join("player.py"), player).unwrap();
    for command in commands {
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let patience: &[&str] = if words[0] == "limits" { &[] } else { &["--patience", "60"] };
        let arguments = [&words[..1], patience, &words[1..]].concat();
        let mut own = Command::new(env!("CARGO_BIN_EXE_conformance"));
        let ended = own.args(arguments).env("PATH", &path).current_dir(&folder).output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{command}: {}", text(&ended.stderr));
        if words[0] == "class" {
            let table = fs::read_to_string(folder.path().join("results/results.csv")).unwrap();
            let report = fs::read_to_string(folder.path().join("results/students/ben.txt")).unwrap();
            assert!(table.contains("\r\nben,passed,"), "{command}: {report}{}", text(&ended.stderr));
        }
    }
}
