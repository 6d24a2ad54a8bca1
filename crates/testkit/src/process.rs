//! Real programs. Every wait has a deadline.

use std::{
    fmt,
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::Arc,
    thread::{self, JoinHandle},
    time::Instant,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::{PATIENCE, watched::Watched};

/// Whether SIGHUP ends programs that are started here. It does not under `nohup`.
pub fn hang_up_counts() -> bool {
    sigkit::hang_up().is_some()
}

/// The output and exit status of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// The exit status; `None` if a signal ended it.
    pub code: Option<i32>,
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
}

/// A running program, killed when dropped.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    state: Arc<Watched<State>>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    // Threads that have finished: two readers, and the one that waits for the process.
    ended: u8,
    exited: bool,
}

impl State {
    fn text(&self, pick: fn(&Self) -> &Vec<u8>) -> String {
        String::from_utf8_lossy(pick(self)).into_owned()
    }

    // Whether nothing comes any more.
    const fn has_ended(&self) -> bool {
        self.ended == 3
    }
}

impl Process {
    /// Starts a program with an empty standard input. Its output is read continuously, so that it never blocks.
    pub fn start(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::null()))
    }

    /// Starts a program with a pipe as its standard input.
    pub fn start_with_stdin(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::piped()))
    }

    /// Runs a program until it ends.
    pub fn run(command: &mut Command) -> Finished {
        Self::start(command).wait()
    }

    fn spawn(command: &mut Command) -> Self {
        // The settings of the developer's terminal must not influence the test.
        command.env_remove("RUST_LOG").env_remove("NO_COLOR").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let state = Watched::new(State::default());
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        let pid = Pid::from_child(&child);
        let waiting = Arc::clone(&state);
        let threads = vec![
            reader(stdout, &state, |state| &mut state.stdout),
            reader(stderr, &state, |state| &mut state.stderr),
            thread::spawn(move || {
                // Does not reap the process: its id must stay valid until the owner does.
                let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(pid), options) {}
                waiting.change(|state| {
                    state.exited = true;
                    state.ended += 1;
                });
            }),
        ];
        Self { stdin: child.stdin.take(), child, state, threads }
    }

    /// Waits until `find` returns something for the standard output so far; `what` names it in the panic message.
    pub fn wait_stdout<T>(&self, what: &str, mut find: impl FnMut(&str) -> Option<T>) -> T {
        self.wait_to_see(&format!("no {what} on standard output"), |state| find(&state.text(|state| &state.stdout)))
    }

    /// Waits until `find` returns something for the standard error so far; `what` names it in the panic message.
    pub fn wait_stderr<T>(&self, what: &str, mut find: impl FnMut(&str) -> Option<T>) -> T {
        self.wait_to_see(&format!("no {what} on standard error"), |state| find(&state.text(|state| &state.stderr)))
    }

    // Waits until `find` returns something. The panic message has what was seen instead.
    fn wait_to_see<T>(&self, trouble: &str, mut find: impl FnMut(&State) -> Option<T>) -> T {
        let describe = |state: &State| {
            let ended = if state.has_ended() { "it has ended" } else { "it still runs" };
            let (stdout, stderr) = (state.text(|state| &state.stdout), state.text(|state| &state.stderr));
            format!("{trouble}; {ended}\n--- stdout ---\n{stdout}\n--- stderr ---\n{stderr}")
        };
        let found = self.state.find(|state| find(state).map(Some).or(state.has_ended().then_some(None)), describe);
        found.unwrap_or_else(|| panic!("{}", describe(&self.state.lock())))
    }

    /// The port that a server announces: the first number in the first line of its standard output.
    pub fn port(&self) -> u16 {
        self.wait_stdout("a line with a port", |stdout| {
            let (line, _) = stdout.split_once('\n')?;
            let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
            numbers.next()
        })
    }

    /// Its standard output so far.
    pub fn stdout(&self) -> String {
        self.state.lock().text(|state| &state.stdout)
    }

    /// Its standard error so far.
    pub fn stderr(&self) -> String {
        self.state.lock().text(|state| &state.stderr)
    }

    /// Whether it still runs.
    pub fn is_running(&self) -> bool {
        !self.state.lock().exited
    }

    /// Writes to its standard input.
    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("the program was started with a standard input");
        stdin.write_all(bytes.as_ref()).and_then(|()| stdin.flush()).expect("the program reads its standard input");
    }

    /// Closes its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends SIGTERM, as `kill` does.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGINT, as Ctrl-C does.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// Sends SIGHUP, as closing the terminal window does.
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    /// Sends SIGSTOP and waits until the process is stopped.
    #[cfg(target_os = "linux")]
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.child.id());
        let stands = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        let end = Instant::now() + PATIENCE;
        while !stands() {
            assert!(Instant::now() < end, "{stat} never shows that the process is stopped");
            thread::yield_now();
        }
    }

    /// Sends SIGCONT.
    #[cfg(target_os = "linux")]
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Sends SIGKILL.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Waits until no signal is pending for it. Two pending signals of a kind would be merged into one.
    pub fn wait_until_signals_are_taken(&self) {
        let status = format!("/proc/{}/status", self.child.id());
        let deadline = Instant::now() + PATIENCE;
        // Does not wait where there is no such file.
        while self.is_running() && std::fs::read_to_string(&status).is_ok_and(|status| has_pending(&status)) {
            assert!(Instant::now() < deadline, "the program takes no signal");
            thread::yield_now();
        }
    }

    fn signal(&self, signal: Signal) {
        // The process is reaped when this value is dropped, so its id is still valid.
        kill_process(Pid::from_child(&self.child), signal).expect("a process that is not collected takes signals");
    }

    /// Closes its standard input and waits for it to end.
    pub fn wait(mut self) -> Finished {
        self.stdin = None;
        self.wait_for_end()
    }

    /// Waits for it to end while its standard input stays open.
    pub fn wait_for_end(mut self) -> Finished {
        self.wait_to_see("the program did not end", |state| state.has_ended().then_some(()));
        let (stdout, stderr) = (self.stdout(), self.stderr());
        let status = self.child.wait().expect("an own child can be waited for");
        Finished { code: status.code(), stdout, stderr }
    }
}

// Whether signals are pending, according to the status file of Linux, which shows sets as hexadecimal numbers.
fn has_pending(status: &str) -> bool {
    let sets = status.lines().filter_map(|line| line.strip_prefix("SigPnd:").or_else(|| line.strip_prefix("ShdPnd:")));
    sets.into_iter().any(|set| set.trim().bytes().any(|digit| digit != b'0'))
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("id", &self.child.id()).finish_non_exhaustive()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin = None;
        // Both do nothing if it has ended.
        let _ = self.child.kill();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let _ = self.child.wait();
    }
}

fn reader(
    mut from: impl Read + Send + 'static,
    state: &Arc<Watched<State>>,
    into: fn(&mut State) -> &mut Vec<u8>,
) -> JoinHandle<()> {
    let watched = Arc::clone(state);
    thread::spawn(move || {
        let mut buffer = [0; 1 << 13];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            watched.change(|state| into(state).extend_from_slice(&buffer[..length]));
        }
        watched.change(|state| state.ended += 1);
    })
}
