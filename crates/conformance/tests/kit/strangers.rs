//! Programs that misbehave towards the machine get a verdict, and none of their processes remain.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "tests fail by panicking, in helpers too")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
    thread,
};

use testkit::{eventually, programs};

/// Without capabilities and without the right to create namespaces.
const WITHOUT_NAMESPACES: [&str; 6] = [
    "unshare",
    "--user",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all \"$0\" \"$@\"",
];

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn python() -> &'static str {
    static PYTHON: LazyLock<PathBuf> = LazyLock::new(|| programs::python().expect("these tests need python3"));
    PYTHON.to_str().unwrap()
}

fn conformance(before: &[&str], arguments: &[&str]) -> Output {
    let own = env!("CARGO_BIN_EXE_conformance");
    let words: Vec<&str> = before.iter().copied().chain([own]).chain(arguments.iter().copied()).collect();
    Command::new(words[0]).args(&words[1..]).output().unwrap()
}

// A zombie has no arguments.
fn is_left(word: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let commands = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    commands.into_iter().any(|command| command.split(|&byte| byte == 0).any(|argument| argument == word.as_bytes()))
}

/// `word` is an argument that identifies the processes.
fn judged(before: &[&str], word: &str, code: &str, options: &[&str], texts: &[&str]) -> String {
    // Only a program that neither exits nor is ended uses up this time.
    let front = ["player", "--patience", "60", "--only", "joins,no-crash"];
    let command = ["--", python(), "-c", code, word, "{host}{port}"];
    let arguments: Vec<&str> = front.iter().chain(options).chain(&command).copied().collect();
    let ended = conformance(before, &arguments);
    let report = text(&ended.stdout);
    assert_eq!(ended.status.code(), Some(1), "{report}{}", text(&ended.stderr));
    for part in texts {
        assert!(report.contains(part), "{part}: {report}");
    }
    eventually(&format!("{word} is still running"), || !is_left(word));
    report
}

const DAEMON: &str = "
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()
sys.exit(3)
";

#[test]
fn processes_that_leave_the_group_are_ended() {
    judged(&[], "a-daemon-of-the-tests", DAEMON, &[], &["FAIL  joins", "it ended with exit status 3"]);
}

#[test]
fn processes_that_leave_the_group_are_ended_without_namespaces() {
    if !has_no_namespaces() {
        // The other test covers this case.
        return;
    }
    let holds = text(&conformance(&WITHOUT_NAMESPACES, &["limits"]).stdout);
    assert!(holds.contains("network: not limited") && holds.contains("finds and kills"), "{holds}");
    judged(&WITHOUT_NAMESPACES, "another-daemon-of-the-tests", DAEMON, &[], &["it ended with exit status 3"]);
}

fn has_no_namespaces() -> bool {
    let tried = Command::new(WITHOUT_NAMESPACES[0]).args(&WITHOUT_NAMESPACES[1..]).arg("true").output();
    tried.is_ok_and(|tried| tried.status.success())
}

#[test]
fn killing_or_stopping_the_guard_leaves_no_process() {
    let before: &[&str] = if has_no_namespaces() { &WITHOUT_NAMESPACES } else { &[] };
    if !text(&conformance(before, &["limits"]).stdout).contains("finds and kills") {
        return;
    }
    for signal in ["SIGKILL", "SIGSTOP"] {
        // The descendant is in its own session, and its parent has ended. It waits until the guard has adopted it.
        let code = format!(
            "
import os, signal, time
guard = os.getppid()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(0.2)
        os.kill(guard, signal.{signal})
        time.sleep(1000)
    os._exit(0)
os.wait()
time.sleep(1000)
"
        );
        judged(before, &format!("a-mutineer-with-{signal}"), &code, &[], &["FAIL  no-crash", "(SIGKILL)"]);
    }
}

#[test]
fn consecutive_programs_have_different_process_ids() {
    let folder = tempfile::tempdir().unwrap();
    let ids = folder.path().join("ids");
    let command = format!("echo $$ >>'{}'", ids.display());
    conformance(&[], &["player", "--repeat", "4", "--patience", "1", "--", "sh", "-c", &command, "{host}{port}"]);
    let ids = fs::read_to_string(ids).unwrap();
    let ids: Vec<&str> = ids.lines().collect();
    assert!(ids.len() >= 4, "{ids:?}");
    let mut different = ids.clone();
    different.sort_unstable();
    different.dedup();
    assert_eq!(different.len(), ids.len(), "{ids:?}");
}

#[test]
fn idle_program_is_ended_at_its_time_limit() {
    let tested = |options: &[&str]| {
        let command = ["--", "sh", "-c", "sleep 9753 & wait", "{host}{port}"];
        text(&conformance(&[], &[&["player"], options, &command].concat()).stdout)
    };
    let report = tested(&["--patience", "1"]);
    assert!(report.contains("expected a connection to ") && !is_left("9753"), "{report}");
    let report = tested(&["--patience", "600", "--limit", "time=1"]);
    assert!(report.contains("exceeded the limit time, which is 1 s") && !is_left("9753"), "{report}");
}

#[test]
fn killed_tester_leaves_no_process() {
    let mut tester = Command::new(env!("CARGO_BIN_EXE_conformance"));
    tester.args(["player", "--patience", "600", "--", "sh", "-c", "sleep 9754 & wait", "{host}{port}"]);
    let mut tester = tester.stdout(Stdio::null()).spawn().unwrap();
    eventually("it did not start", || is_left("9754"));
    tester.kill().unwrap();
    tester.wait().unwrap();
    eventually("it is still running", || !is_left("9754"));
}

#[test]
fn memory_is_limited_for_each_process_and_for_all() {
    let eats = "kept = [bytearray(1 << 24) for _ in range(1000)]";
    let limit = ["--limit", "memory=64M"];
    let texts = ["FAIL  no-crash", "exceeded the limit memory, which is 64 MiB"];
    judged(&[], "an-eater-of-the-tests", eats, &limit, &texts);
    let reserves = "import mmap, sys\nkept = [mmap.mmap(-1, 1 << 26, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(8)]\nsys.exit(3)";
    judged(&[], "a-reserver-of-the-tests", reserves, &limit, &["it ended with exit status 3"]);
    let family = "
import os, time
for _ in range(4):
    if os.fork() == 0:
        break
else:
    os.wait()
kept = bytearray(os.urandom(1 << 20) * 24)
time.sleep(1000)
";
    judged(&[], "eaters-of-the-tests", family, &limit, &["exceeded the limit memory, which is 64 MiB"]);
}

// Each process uses the memory in `kept` if it is set, and otherwise calls `take`.
fn sharing(take: &str) -> String {
    format!(
        "
import mmap, os, time
def fill(memory):
    for at in range(0, len(memory), mmap.PAGESIZE):
        memory[at] = 1
    return memory
{take}
for _ in range(3):
    if os.fork() == 0:
        if not kept:
            kept = take()
        time.sleep(1000)
kept = kept or take()
time.sleep(2)
os._exit(3)
"
    )
}

#[test]
fn shared_memory_counts_once() {
    let limit = ["--limit", "memory=64M"];
    let exceeded = ["exceeded the limit memory, which is 64 MiB"];
    let anonymous = "take = lambda: fill(mmap.mmap(-1, 24 << 20))";
    let file = "
def take():
    file = os.memfd_create('memory')
    os.ftruncate(file, 24 << 20)
    return fill(mmap.mmap(file, 24 << 20))
";
    for (name, take) in [("anonymous", anonymous), ("file", file)] {
        let each = sharing(&format!("{take}\nkept = None"));
        judged(&[], &format!("sharers-of-the-tests-{name}"), &each, &limit, &exceeded);
        let together = sharing(&format!("{take}\nkept = take()"));
        judged(&[], &format!("partners-of-the-tests-{name}"), &together, &limit, &["it ended with exit status 3"]);
    }
}

#[test]
fn program_that_floods_output_is_ended() {
    for stream in ["stdout", "stderr"] {
        let code = format!("import sys\nwhile True: sys.{stream}.write('why ' * 1000 + '\\n')");
        let texts = ["FAIL  no-crash", "exceeded the limit output, which is 1 MiB"];
        judged(&[], &format!("a-flood-of-{stream}-of-the-tests"), &code, &["--limit", "output=1M"], &texts);
    }
}

#[test]
fn file_size_is_limited() {
    let folder = tempfile::tempdir().unwrap();
    let code = "
import os, sys
with open(os.path.join(sys.argv[2], str(os.getpid()) + sys.argv[3].replace('/', '')), 'wb') as file:
    for _ in range(100):
        file.write(bytes(1 << 20))
";
    let command =
        ["--", python(), "-c", code, "a-writer-of-the-tests", folder.path().to_str().unwrap(), "{port}{host}"];
    let ended = conformance(&[], &[&["player", "--limit", "file-size=2M"], &command[..]].concat());
    let report = text(&ended.stdout);
    assert!(report.contains("standard error: OSError: [Errno 27] File too large"), "{report}");
    let sizes: Vec<u64> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).collect();
    assert!(!sizes.is_empty() && sizes.iter().all(|&size| size <= 2 << 20), "{sizes:?}");
}

#[test]
fn fork_bomb_is_limited() {
    // Finite, in case the limit does not work.
    let code = "
import os, time
for _ in range(100):
    if os.fork() == 0:
        time.sleep(1000)
";
    let report = judged(&[], "a-bomb-of-the-tests", code, &["--limit", "processes=20"], &["FAIL  joins"]);
    let refused = "BlockingIOError: [Errno 11] Resource temporarily unavailable";
    assert!(report.contains("exceeded the limit processes, which is 20") || report.contains(refused), "{report}");
}

#[test]
fn programs_have_only_loopback_where_the_system_allows_it() {
    let is_confined = text(&conformance(&[], &["limits"]).stdout).starts_with("network: only loopback\n");
    let code = "import sys; sys.exit(', '.join(line.split()[0] for line in open('/proc/net/dev').readlines()[2:]))";
    let report = judged(&[], "a-surfer-of-the-tests", code, &[], &["standard error: "]);
    assert_eq!(is_confined, report.contains("standard error: lo:\n"), "{report}");
}

#[test]
fn report_lists_limits() {
    let report = judged(&[], "an-empty-program-of-the-tests", "", &["--limit", "files=77"], &["Limits: network: "]);
    assert!(report.contains("; files: 77; file-size: 64 MiB; output: 64 MiB; end of the program: "), "{report}");
    let wrong = conformance(&[], &["player", "--limit", "ram=1", "--", "x"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("--limit ram=1: unknown limit 'ram'"), "{}", text(&wrong.stderr));
}

fn reference(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reference").join(name);
    path.to_str().unwrap().to_owned()
}

fn wrapped(kind: &str, front: &str, name: &str, options: &[&str], arguments: &[&str]) -> (Option<i32>, String) {
    let path = reference(name);
    let folder = Path::new(&path).parent().unwrap().to_str().unwrap().to_owned();
    let code = format!(
        "import runpy, sys\nsys.dont_write_bytecode = True\nsys.path.insert(0, '{folder}')\n{front}\nsys.argv = sys.argv[1:]\nrunpy.run_path(sys.argv[0], run_name='__main__')"
    );
    let command = ["--", python(), "-c", &code, &path];
    let words: Vec<&str> = [kind].iter().chain(options).chain(&command).chain(arguments).copied().collect();
    let ended = conformance(&[], &words);
    (ended.status.code(), text(&ended.stdout))
}

#[test]
fn buffered_output_is_read_at_a_terminal() {
    // Buffers all output unless at a terminal, as C's `printf` does, so the tester gets no port through a pipe.
    let front = "
import builtins
say = print
def buffered(*words, flush=False, **options):
    say(*words, flush=sys.stdout.isatty(), **options)
builtins.print = buffered
sys.stdout.isatty() or sys.exit('this is no terminal')
";
    let arguments = ["{map}", "{seed}"];
    let options = ["--patience", "20", "--only", "announces-port,welcome-player"];
    let (code, report) = wrapped("nuggets-server", front, "nuggets_server.py", &options, &arguments);
    assert_eq!(code, Some(0), "{report}");
    let options = [&options[..], &["--terminal", "no"]].concat();
    let (code, report) = wrapped("nuggets-server", front, "nuggets_server.py", &options, &arguments);
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("standard error: this is no terminal"), "{report}");
}

#[test]
fn client_that_needs_a_terminal_runs_at_one() {
    let front = "sys.stdin.isatty() and sys.stdout.isatty() or sys.exit('this is no terminal')";
    let arguments = ["{host}", "{port}", "{name}"];
    let options = ["--patience", "20", "--only", "first-message"];
    let (code, report) = wrapped("nuggets-client", front, "nuggets_client.py", &options, &arguments);
    assert_eq!(code, Some(0), "{report}");
    let options = [&options[..], &["--terminal", "no"]].concat();
    let (code, report) = wrapped("nuggets-client", front, "nuggets_client.py", &options, &arguments);
    assert_eq!(code, Some(1), "{report}");
    for part in ["standard error: this is no terminal", "if it needs a terminal"] {
        assert!(report.contains(part), "{part}: {report}");
    }
}

#[test]
fn terminal_rule_is_untested_if_all_scenarios_use_a_terminal() {
    let rules = ["--only", "terminal,shown", "--patience", "20"];
    let (code, report) = wrapped("mastermind-text", "", "mastermind_play.py", &rules, &[]);
    assert!(code == Some(0) && report.contains("\u{2713} terminal "), "{report}");
    for choice in ["yes", "no"] {
        let options = [&rules[..], &["--terminal", choice]].concat();
        let (code, report) = wrapped("mastermind-text", "", "mastermind_play.py", &options, &[]);
        assert!(report.contains("\u{2713} shown "), "{report}");
        assert!(report.contains("the option --terminal excludes this scenario: terminal"), "{report}");
        assert_eq!(code, Some(5), "{report}");
    }
}

#[test]
fn program_that_is_wrong_only_at_a_terminal_breaks_the_terminal_rule() {
    let front = "
import builtins
say = print
builtins.print = lambda *words, **options: None if sys.stdin.isatty() else say(*words, **options)
";
    // In parallel, since both wait for missing output.
    let rules = ["--patience", "2", "--only", "terminal,shown"];
    let test =
        |options: &[&str]| wrapped("mastermind-text", front, "mastermind_play.py", &[&rules, options].concat(), &[]);
    thread::scope(|scope| {
        let wrong_at_terminal = scope.spawn(|| test(&[]));
        let (code, report) = test(&["--terminal", "yes"]);
        assert!(code == Some(5) && report.contains("note  shown"), "{report}");
        let (code, report) = wrong_at_terminal.join().unwrap();
        assert!(code == Some(1) && report.contains("FAIL  terminal"), "{report}");
        assert!(report.contains("\u{2713} shown "), "{report}");
    });
}
