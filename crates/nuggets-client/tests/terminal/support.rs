//! A terminal to run the client in, and a server that says what a test wants it to say.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

/// Longer than anything takes, so that a test that waits so long has failed.
const PATIENCE: Duration = Duration::from_secs(30);

/// The program under test.
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_nuggets-client");

/// A value that one thread changes and another waits for.
pub(crate) struct Watched<T> {
    value: Mutex<T>,
    changed: Condvar,
}

impl<T> Watched<T> {
    fn new(value: T) -> Arc<Self> {
        Arc::new(Self { value: Mutex::new(value), changed: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut T)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    /// Waits until the value is as wanted. `describe` tells what it is when that does not come.
    fn wait(&self, wanted: impl Fn(&T) -> bool, describe: impl Fn(&T) -> String) {
        let deadline = Instant::now() + PATIENCE;
        let mut value = self.lock();
        while !wanted(&value) {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "waited in vain; there is only\n{}", describe(&value));
            value = self.changed.wait_timeout(value, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn size(columns: u16, rows: u16) -> PtySize {
    PtySize { rows, cols: columns, pixel_width: 0, pixel_height: 0 }
}

/// The program in a terminal of its own.
pub(crate) struct Terminal {
    parser: Arc<Watched<vt100::Parser>>,
    master: Box<dyn MasterPty + Send>,
    keyboard: Box<dyn Write + Send>,
    child: Box<dyn Child + Send + Sync>,
    modes: String,
}

impl Terminal {
    /// Starts the program with these arguments in a window of this size.
    pub(crate) fn start(arguments: &[&str], columns: u16, rows: u16) -> Self {
        Self::start_with(arguments, &[], columns, rows)
    }

    /// As [`Terminal::start`], with something in the environment.
    pub(crate) fn start_with(arguments: &[&str], environment: &[(&str, &str)], columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new(PROGRAM);
        command.args(arguments);
        Self::spawn(command, environment, columns, rows)
    }

    /// As [`Terminal::start`], as a job of a shell: when it stops, the shell says so, and goes on with it after a Return.
    pub(crate) fn start_in_shell(arguments: &[&str], columns: u16, rows: u16) -> Self {
        let mut command = CommandBuilder::new("sh");
        // With -m each job has a process group of its own, which is what can be stopped.
        command.args(["-c", "set -m; \"$0\" \"$@\"; echo It stopped.; read go; fg >/dev/null", PROGRAM]);
        command.args(arguments);
        Self::spawn(command, &[], columns, rows)
    }

    fn spawn(mut command: CommandBuilder, environment: &[(&str, &str)], columns: u16, rows: u16) -> Self {
        let pair = native_pty_system().openpty(size(columns, rows)).unwrap();
        command.env("TERM", "xterm-256color");
        command.env_remove("NO_COLOR");
        command.env_remove("RUST_LOG");
        for (name, value) in environment {
            command.env(name, value);
        }
        let modes = modes(&*pair.master);
        let child = pair.slave.spawn_command(command).unwrap();
        let parser = Watched::new(vt100::Parser::new(rows, columns, 0));
        let mut output = pair.master.try_clone_reader().unwrap();
        let seen = Arc::clone(&parser);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            // The end comes as an error once the program is gone.
            while let Ok(count @ 1..) = output.read(&mut chunk) {
                seen.change(|parser| parser.process(&chunk[..count]));
            }
        });
        let keyboard = pair.master.take_writer().unwrap();
        Self { parser, master: pair.master, keyboard, child, modes }
    }

    /// Types these bytes.
    pub(crate) fn press(&mut self, bytes: &[u8]) {
        self.keyboard.write_all(bytes).unwrap();
        self.keyboard.flush().unwrap();
    }

    /// Gives the window another size.
    pub(crate) fn resize(&mut self, columns: u16, rows: u16) {
        self.parser.change(|parser| parser.screen_mut().set_size(rows, columns));
        self.master.resize(size(columns, rows)).unwrap();
    }

    /// Sends a signal to the program that has the terminal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = self.master.process_group_leader().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Waits until the screen is as wanted.
    pub(crate) fn wait(&self, wanted: impl Fn(&vt100::Screen) -> bool) {
        self.parser.wait(|parser| wanted(parser.screen()), |parser| parser.screen().contents());
    }

    /// Waits until the screen shows `text` somewhere.
    pub(crate) fn wait_for(&self, text: &str) {
        self.wait(|screen| screen.contents().contains(text));
    }

    /// Waits until the first lines of the screen are these.
    pub(crate) fn wait_for_lines(&self, lines: &[&str]) {
        self.wait(|screen| {
            let contents = screen.contents();
            let mut shown = contents.lines();
            lines.iter().all(|line| shown.next().unwrap_or("").trim_end() == *line)
        });
    }

    /// Looks at the screen.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&vt100::Screen) -> T) -> T {
        look(self.parser.lock().screen())
    }

    /// Waits until the program has ended and checks that it left the terminal as it was. Answers its exit code.
    pub(crate) fn end(mut self) -> u32 {
        let status = self.wait_for_exit();
        self.wait_for_own_screen();
        status
    }

    /// Waits until the terminal is as it was before the program.
    pub(crate) fn wait_for_own_screen(&self) {
        self.wait(|screen| !screen.alternate_screen() && !screen.hide_cursor());
        assert_eq!(modes(&*self.master), self.modes, "the modes of the terminal");
    }

    /// Waits until the program has ended. Answers its exit code.
    fn wait_for_exit(&mut self) -> u32 {
        // There is no way to wait for a process with a deadline, so a thread waits and the child is killed if need be.
        let mut killer = self.child.clone_killer();
        let ended = Watched::new(false);
        let watch = Arc::clone(&ended);
        let watchdog = thread::spawn(move || {
            let (value, deadline) = (watch.lock(), PATIENCE);
            let (value, timeout) = watch
                .changed
                .wait_timeout_while(value, deadline, |ended| !*ended)
                .unwrap_or_else(PoisonError::into_inner);
            drop(value);
            if timeout.timed_out() {
                let _ = killer.kill();
            }
            timeout.timed_out()
        });
        let status = self.child.wait().unwrap();
        ended.change(|ended| *ended = true);
        assert!(
            !watchdog.join().unwrap(),
            "the program did not end; the screen is\n{}",
            self.look(vt100::Screen::contents)
        );
        status.exit_code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Does nothing if it has ended.
        let _ = self.child.kill();
    }
}

fn modes(master: &(dyn MasterPty + Send)) -> String {
    format!("{:?}", master.get_termios())
}

/// What a fake server heard, and from where.
type Heard = Vec<(SocketAddr, Vec<u8>)>;

/// A server that answers as it is told.
pub(crate) struct Server {
    socket: UdpSocket,
    heard: Arc<Watched<Heard>>,
}

impl Server {
    /// A server whose answers to each message `script` decides.
    pub(crate) fn start(script: impl Fn(&[u8]) -> Vec<Vec<u8>> + Send + 'static) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let listener = socket.try_clone().unwrap();
        let heard = Watched::new(vec![]);
        let log = Arc::clone(&heard);
        // Ends with the test program: nothing else would wake it.
        thread::spawn(move || {
            let mut buffer = [0; 1024];
            loop {
                // Errors are about clients that are gone.
                let Ok((count, from)) = listener.recv_from(&mut buffer) else { continue };
                let message = buffer[..count].to_vec();
                let replies = script(&message);
                log.change(|log| log.push((from, message)));
                for reply in replies {
                    let _ = listener.send_to(&reply, from);
                }
            }
        });
        Self { socket, heard }
    }

    /// A server with one player or spectator on this map, who is let in and may leave; keys change nothing.
    pub(crate) fn with_map(map: &'static str) -> Self {
        Self::start(move |message| match message {
            b"SPECTATE" => welcome(map, false),
            [b'P', b'L', b'A', b'Y', ..] => welcome(map, true),
            b"KEY Q" => vec![b"QUIT Thanks for playing!".to_vec()],
            _ => vec![],
        })
    }

    /// The port, as an argument.
    pub(crate) fn port(&self) -> String {
        self.socket.local_addr().unwrap().port().to_string()
    }

    /// Sends a datagram to the client that was heard last.
    pub(crate) fn say(&self, datagram: &[u8]) {
        self.socket.send_to(datagram, self.client()).unwrap();
    }

    /// Where the client that was heard last sits.
    pub(crate) fn client(&self) -> SocketAddr {
        self.heard.lock().last().unwrap().0
    }

    /// Waits until these are all the messages that came.
    pub(crate) fn wait_for(&self, messages: &[&str]) {
        let texts = |heard: &Heard| heard.iter().map(|(_, text)| text.escape_ascii().to_string()).collect::<Vec<_>>();
        self.heard.wait(|heard| texts(heard) == messages, |heard| texts(heard).join("\n"));
    }

    /// Waits until at least so many messages came that begin like this.
    pub(crate) fn wait_for_many(&self, start: &str, count: usize) {
        let matching = |heard: &Heard| heard.iter().filter(|(_, text)| text.starts_with(start.as_bytes())).count();
        self.heard.wait(|heard| matching(heard) >= count, |heard| format!("{} of {count}", matching(heard)));
    }
}

/// What a client hears when it is let in.
pub(crate) fn welcome(map: &str, as_player: bool) -> Vec<Vec<u8>> {
    let columns = map.lines().next().unwrap().len();
    let grid = format!("GRID {} {columns}", map.lines().count());
    let texts = ["OK A".to_owned(), grid, "GOLD 0 0 250".to_owned(), format!("DISPLAY\n{map}")];
    texts.into_iter().skip(usize::from(!as_player)).map(String::into_bytes).collect()
}
