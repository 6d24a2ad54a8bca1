//! Commands that root runs on the data of another user. Skipped without root.

use std::{
    fs::{self, OpenOptions},
    io::{ErrorKind, Write as _},
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
        net::UnixListener,
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
};

use testkit::{
    TempDir, eventually,
    process::{Finished, Process},
};

use crate::{
    admin::{arcade, done},
    support::Hub,
};

/// Runs the hub, and has no name in the system.
const USER: u32 = 61_234;

struct Machine {
    root: TempDir,
    data: Arc<TempDir>,
}

impl Machine {
    /// `None` without root.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: it needs root, to run programs as two users");
            return None;
        }
        let (root, data) = (TempDir::new(), Arc::new(TempDir::new()));
        chown(data.path(), Some(USER), Some(USER)).unwrap();
        fs::set_permissions(data.path(), fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(root.path().join("precious"), "of root").unwrap();
        Some(Self { root, data })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn as_user(&self, script: &str) {
        let mut shell = Command::new("sh");
        shell.current_dir(self.data.path()).uid(USER).gid(USER).args(["-euc", script]);
        Process::run(&mut shell).ended(0);
    }

    fn hub(&self) -> Hub {
        let mut command = Command::new(env!("CARGO_BIN_EXE_arcade"));
        command.uid(USER).gid(USER);
        Hub::run(command, Arc::clone(&self.data), &["--no-default-rooms"])
    }

    /// Writes a backup, and deletes the data of the hub.
    fn backup(&self) -> PathBuf {
        let hub = self.hub();
        let file = self.path("backup.tar");
        assert!(done(&hub, &["backup", file.to_str().unwrap()]).contains("backup.tar' has "));
        hub.end();
        self.as_user("rm -rf rooms classes journals results.db* secret lock control");
        file
    }

    fn arcade(&self, words: &[&str]) -> Finished {
        arcade(self.data.path(), words)
    }

    /// All files have to belong to root.
    #[track_caller]
    fn assert_untouched(&self, expected: &[&str]) {
        let entries = fs::read_dir(self.root.path()).unwrap().map(Result::unwrap);
        let mut names: Vec<String> = entries
            .inspect(|entry| assert_eq!(entry.metadata().unwrap().uid(), 0, "{}", entry.path().display()))
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, expected);
        assert_eq!(fs::read_to_string(self.path("precious")).unwrap(), "of root");
    }
}

fn owners(directory: &Path, found: &mut Vec<(u32, PathBuf)>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let about = entry.metadata().unwrap();
        found.push((about.uid(), entry.path()));
        if about.is_dir() {
            owners(&entry.path(), found);
        }
    }
}

#[test]
fn restore_as_root_follows_no_link_in_place_of_its_directory() {
    let Some(machine) = Machine::new() else { return };
    let whole = fs::read(machine.backup()).unwrap();
    // The pipe pauses the restore.
    let pipe = machine.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut restore = Command::new(env!("CARGO_BIN_EXE_arcade"));
    let restore = Process::start(restore.arg("--data").arg(machine.data.path()).arg("restore").arg(&pipe));
    let mut backup = OpenOptions::new().write(true).open(&pipe).unwrap();
    let secret = whole.windows(7).position(|window| window == b"secret\0").unwrap();
    let (first, rest) = whole.split_at(secret);
    backup.write_all(first).unwrap();
    let unpacked = || {
        let mut entries = fs::read_dir(machine.data.path()).unwrap().map(Result::unwrap);
        let directory = entries.find(|entry| entry.file_name().as_encoded_bytes().starts_with(b".restore-"))?;
        directory.path().join("results.db").exists().then(|| directory.file_name().into_string().unwrap())
    };
    eventually("the directory in which the backup is unpacked", || unpacked().is_some());
    let name = unpacked().unwrap();
    let target = machine.root.path().display();
    machine.as_user(&format!("mv {name} moved && ln -s '{target}' {name}"));
    backup.write_all(rest).unwrap();
    drop(backup);
    let finished = restore.wait();
    machine.assert_untouched(&["backup.tar", "pipe", "precious"]);
    assert!(finished.code == Some(1) && finished.stderr.contains("Permission denied"), "{finished:?}");
}

#[test]
fn link_in_place_of_the_lock_creates_no_file() {
    let Some(machine) = Machine::new() else { return };
    let backup = machine.backup();
    symlink(machine.path("created"), machine.data.path().join("lock")).unwrap();
    for words in [&["restore", backup.to_str().unwrap()][..], &["--port", "0"]] {
        let finished = machine.arcade(words);
        assert!(finished.code == Some(1) && finished.stderr.contains("lock"), "{finished:?}");
    }
    machine.arcade(&["results", "copy", "--to", machine.path("copy.db").to_str().unwrap()]).ended(1);
    machine.arcade(&["--port", "0", "doctor"]);
    machine.assert_untouched(&["backup.tar", "precious"]);
}

#[test]
fn command_as_root_follows_no_link_in_place_of_the_control_socket() {
    let Some(machine) = Machine::new() else { return };
    let socket = machine.path("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    listener.set_nonblocking(true).unwrap();
    symlink(&socket, machine.data.path().join("control")).unwrap();
    let backup = machine.path("backup.tar");
    for words in [&["status"][..], &["drain"], &["ban", "--list"], &["backup", backup.to_str().unwrap()]] {
        machine.arcade(words).ended(1);
    }
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    machine.assert_untouched(&["precious", "socket"]);
}

#[test]
fn commands_as_root_leave_the_files_of_the_hub_to_its_user() {
    let Some(machine) = Machine::new() else { return };
    let hub = machine.hub();
    assert!(done(&hub, &["status"]).contains(", ready, "));
    done(&hub, &["ban", "192.0.2.7"]);
    done(&hub, &["report", "list"]);
    let finished = machine.arcade(&["--port", "0", "doctor"]);
    assert!(finished.stdout.contains("is writable and private"), "{finished:?}");
    // The hub cannot write to the directory of root.
    let file = machine.path("backup.tar");
    let output = done(&hub, &["backup", file.to_str().unwrap()]);
    assert!(output.starts_with(&format!("'{}' has ", file.display())), "{output}");
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    assert!(machine.arcade(&["backup", file.to_str().unwrap()]).stderr.contains("already exists"));
    hub.process.wait_stderr("the user who banned", |log| {
        log.contains(&format!("executed a command of the host uid={USER}")).then_some(())
    });
    done(&hub, &["drain", "--seconds", "0"]);
    hub.process.wait().ended(0);
    let copy = machine.path("copy.db");
    for _ in 0..2 {
        let copied = machine.arcade(&["results", "copy", "--to", copy.to_str().unwrap()]).ended(0);
        assert!(copied.stdout.ends_with("Both databases have the same rows.\n"), "{}", copied.stdout);
    }
    machine.arcade(&["results", "copy", "--from", copy.to_str().unwrap(), "--to", "postgres://127.0.0.1:1/x"]).ended(1);
    machine.arcade(&["restore", file.to_str().unwrap(), "--replace"]).ended(0);
    machine.arcade(&["backup", machine.path("late.tar").to_str().unwrap()]).ended(1);
    machine.assert_untouched(&["backup.tar", "copy.db", "precious"]);
    let mut found = vec![];
    owners(machine.data.path(), &mut found);
    assert!(found.iter().any(|(_, path)| path.ends_with("bans")), "{found:?}");
    assert!(found.iter().all(|(owner, _)| *owner == USER), "{found:?}");
    assert_eq!(done(&machine.hub(), &["ban", "--list"]), "192.0.2.7\n");
}

#[test]
fn hub_started_as_root_runs_as_the_owner_of_its_data() {
    let Some(machine) = Machine::new() else { return };
    let hub = Hub::again(Arc::clone(&machine.data), &[]);
    done(&hub, &["status"]);
    hub.end();
    let mut found = vec![];
    owners(machine.data.path(), &mut found);
    assert!(found.len() > 5 && found.iter().all(|(owner, _)| *owner == USER), "{found:?}");
}

#[test]
fn root_rejects_a_data_directory_that_another_user_could_replace() {
    let Some(machine) = Machine::new() else { return };
    fs::create_dir(machine.path("hub")).unwrap();
    machine.as_user(&format!("ln -s '{}' link", machine.path("hub").display()));
    let linked = machine.data.path().join("link");
    let refused = arcade(&linked, &["--port", "0"]).ended(1);
    assert!(refused.stderr.contains(&format!("user {USER}")), "{}", refused.stderr);
    assert_eq!(fs::read_dir(machine.path("hub")).unwrap().count(), 0);
}
