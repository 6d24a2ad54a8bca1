use std::{
    fmt,
    io::{Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::Arc,
    thread::{self, JoinHandle},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::{eventually, monitor::Monitor};

/// Whether SIGHUP ends programs started here. It does not under `nohup`.
pub fn hang_up_counts() -> bool {
    sigkit::hang_up().is_some()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// `None` if a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    #[expect(clippy::return_self_not_must_use, reason = "most tests only want it checked")]
    #[track_caller]
    pub fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }
}

/// Killed when dropped.
pub struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    shared: Arc<Monitor<State>>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct State {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    // Threads that have ended: two readers, and the one that waits for the process.
    ended: u8,
    exited: bool,
}

impl State {
    fn text(&self, pick: fn(&Self) -> &Vec<u8>) -> String {
        String::from_utf8_lossy(pick(self)).into_owned()
    }
}

impl Process {
    /// Standard input is empty. Output is read continuously, so the program never blocks.
    pub fn start(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::null()))
    }

    pub fn start_with_stdin(command: &mut Command) -> Self {
        Self::spawn(command.stdin(Stdio::piped()))
    }

    pub fn run(command: &mut Command) -> Finished {
        Self::start(command).wait()
    }

    fn spawn(command: &mut Command) -> Self {
        // The developer's terminal must not influence the test.
        command.env_remove("RUST_LOG").env_remove("NO_COLOR").stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
        let shared = Monitor::new(State::default());
        let stdout = child.stdout.take().expect("standard output is a pipe");
        let stderr = child.stderr.take().expect("standard error is a pipe");
        let pid = Pid::from_child(&child);
        let waiting = Arc::clone(&shared);
        let threads = vec![
            reader(stdout, &shared, |state| &mut state.stdout),
            reader(stderr, &shared, |state| &mut state.stderr),
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
        Self { stdin: child.stdin.take(), child, shared, threads }
    }

    /// Waits until `find` returns something for the output so far; `what` is for the panic message.
    pub fn wait_stdout<T>(&self, what: &str, mut find: impl FnMut(&str) -> Option<T>) -> T {
        let found = self.find(|state| find(&state.text(|state| &state.stdout)));
        found.unwrap_or_else(|seen| panic!("no {what} on standard output; {seen}"))
    }

    pub fn wait_stderr<T>(&self, what: &str, mut find: impl FnMut(&str) -> Option<T>) -> T {
        let found = self.find(|state| find(&state.text(|state| &state.stderr)));
        found.unwrap_or_else(|seen| panic!("no {what} on standard error; {seen}"))
    }

    fn find<T>(&self, mut find: impl FnMut(&State) -> Option<T>) -> Result<T, String> {
        let ended = |state: &State| state.ended == 3;
        let found = self.shared.find(|state| find(state).map(Some).or_else(|| ended(state).then_some(None)));
        found.flatten().ok_or_else(|| {
            let state = self.shared.lock();
            let ended = if ended(&state) { "it has ended" } else { "it still runs" };
            let (stdout, stderr) = (state.text(|state| &state.stdout), state.text(|state| &state.stderr));
            format!("{ended}\n--- stdout ---\n{stdout}\n--- stderr ---\n{stderr}")
        })
    }

    /// The first number in the first line of standard output.
    pub fn port(&self) -> u16 {
        self.wait_stdout("a line with a port", |stdout| {
            let (line, _) = stdout.split_once('\n')?;
            let mut numbers = line.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
            numbers.next()
        })
    }

    pub fn stdout(&self) -> String {
        self.shared.lock().text(|state| &state.stdout)
    }

    pub fn stderr(&self) -> String {
        self.shared.lock().text(|state| &state.stderr)
    }

    pub fn is_running(&self) -> bool {
        !self.shared.lock().exited
    }

    pub fn write(&mut self, bytes: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("the program was started with a standard input");
        stdin.write_all(bytes.as_ref()).and_then(|()| stdin.flush()).expect("the program reads its standard input");
    }

    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// SIGTERM, as `kill` does.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// SIGTERM, which must end it with status 0.
    #[track_caller]
    pub fn stop(self) -> Finished {
        self.terminate();
        self.wait().ended(0)
    }

    /// SIGINT, as Ctrl-C does.
    pub fn interrupt(&self) {
        self.signal(Signal::INT);
    }

    /// SIGHUP, as closing the terminal window does.
    pub fn hang_up(&self) {
        self.signal(Signal::HUP);
    }

    #[cfg(target_os = "linux")]
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
        let stat = format!("/proc/{}/stat", self.child.id());
        let stands = || std::fs::read_to_string(&stat).is_ok_and(|stat| stat.contains(") T "));
        eventually(&format!("{stat} never shows that the process is stopped"), stands);
    }

    #[cfg(target_os = "linux")]
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // Reaped only when this value is dropped, so the id is still valid.
        kill_process(Pid::from_child(&self.child), signal).expect("a process that is not collected takes signals");
    }

    /// Closes standard input and waits for the exit.
    pub fn wait(mut self) -> Finished {
        self.stdin = None;
        self.wait_for_end()
    }

    /// Waits for the exit. Standard input stays open.
    pub fn wait_for_end(mut self) -> Finished {
        let waited = self.find(|state| {
            (state.ended == 3).then(|| (state.text(|state| &state.stdout), state.text(|state| &state.stderr)))
        });
        let (stdout, stderr) = waited.unwrap_or_else(|seen| panic!("the program did not end; {seen}"));
        let status = self.child.wait().expect("an own child can be waited for");
        Finished { code: status.code(), stdout, stderr }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process").field("id", &self.child.id()).finish_non_exhaustive()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stdin = None;
        // Both have no effect on an ended process.
        let _ = self.child.kill();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let _ = self.child.wait();
    }
}

fn reader(
    mut from: impl Read + Send + 'static,
    shared: &Arc<Monitor<State>>,
    into: fn(&mut State) -> &mut Vec<u8>,
) -> JoinHandle<()> {
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        let mut buffer = [0; 1 << 13];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            shared.change(|state| into(state).extend_from_slice(&buffer[..length]));
        }
        shared.change(|state| state.ended += 1);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn stdout_stderr_and_exit_status_are_returned() {
        let finished = Process::run(&mut shell("echo out; echo err >&2; exit 3"));
        assert_eq!(finished, Finished { code: Some(3), stdout: "out\n".into(), stderr: "err\n".into() });
    }

    #[test]
    fn a_port_is_parsed_from_the_first_line_while_the_program_runs() {
        let mut process = Process::start_with_stdin(&mut shell("echo waiting at port 4321; read line; echo $line 1"));
        assert_eq!(process.port(), 4321);
        assert!(process.is_running());
        process.write("5 on\n");
        process.wait_stdout("the answer", |stdout| stdout.contains("5 on 1").then_some(()));
        assert_eq!(process.wait().code, Some(0));
    }

    #[test]
    fn signals_arrive() {
        let script = "trap 'echo bye; exit 0' TERM; echo port 1; while :; do read line || sleep 0.01; done";
        let process = Process::start(&mut shell(script));
        process.port();
        process.terminate();
        assert_eq!(process.wait().stdout, "port 1\nbye\n");
        let process = Process::start_with_stdin(&mut shell("echo port 1; read line"));
        process.port();
        process.kill();
        assert_eq!(process.wait().code, None);
    }

    #[test]
    fn dropped_process_is_killed() {
        let process = Process::start_with_stdin(&mut shell("echo port 1; read line"));
        process.port();
        let pid = Pid::from_child(&process.child);
        drop(process);
        assert!(rustix::process::test_kill_process(pid).is_err());
    }
}
