use std::{
    future,
    io::{self, ErrorKind, Read},
    thread,
    time::Duration,
};

use ratatui::Frame;
use tokio::{
    select,
    sync::mpsc,
    time::{Instant, sleep_until},
};

use crate::{
    Event, Key, Keyboard, Mouse, Screen, events,
    signals::{Signal, Signals},
};

/// At most sixty frames per second.
const FRAME: Duration = Duration::from_millis(16);

/// How long after [`Stage::suspend`] a SIGCONT counts as the end of the suspension, which it follows immediately. None
/// follows if the program was not stopped.
const OWN_CONTINUATION: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Terminal,
    TerminalAndMouse,
    Pipe,
    Nothing,
}

/// An event for the program, unlike resizing, stopping and continuing.
#[derive(Debug)]
pub enum StageEvent {
    Key(Key),
    Mouse(Mouse),
    Byte(u8),
    End,
    /// SIGINT, SIGTERM or SIGQUIT: leave in an orderly way.
    Leave,
    /// No further frame is drawn, and no key arrives.
    Gone(io::Error),
    /// Call [`Stage::draw`].
    Frame,
}

#[derive(Debug)]
pub struct Stage {
    // `None` if the program does not draw, or the terminal has hung up.
    screen: Option<Screen>,
    inputs: Inputs,
    signals: Signals,
    next_frame: Instant,
    changed: bool,
    // The end of a suspension, until its signal has arrived.
    went_on: Option<Instant>,
    // Until then, keys are ignored.
    quiet: Option<Instant>,
    // Not reported yet.
    trouble: Option<io::Error>,
}

impl Stage {
    /// Takes control of standard output if the program draws on it (`drawn`), and listens for keys and signals.
    ///
    /// Must be called on a runtime and before any other thread starts: a thread that does not block SIGTSTP would stop
    /// the program without restoring the terminal.
    pub fn enter(drawn: bool, source: Source) -> io::Result<Self> {
        let signals = if drawn { Signals::for_screen()? } else { Signals::listen()? };
        let mode = match source {
            Source::Terminal => Keyboard::Keys,
            Source::TerminalAndMouse => Keyboard::KeysAndMouse,
            Source::Pipe | Source::Nothing => Keyboard::Unread,
        };
        let screen = if drawn { Some(Screen::enter(mode)?) } else { None };
        let inputs = match source {
            Source::Terminal | Source::TerminalAndMouse => Inputs::terminal()?,
            Source::Pipe => Inputs::pipe()?,
            Source::Nothing => Inputs::none(),
        };
        let next_frame = Instant::now();
        Ok(Self { screen, inputs, signals, next_frame, changed: true, went_on: None, quiet: None, trouble: None })
    }

    pub const fn change(&mut self) {
        self.changed = true;
    }

    /// Draws if the screen has changed and the last frame is long enough ago. [`Stage::next`] reports when.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) {
        let now = Instant::now();
        if !self.changed || now < self.next_frame {
            return;
        }
        self.changed = false;
        self.next_frame = now + FRAME;
        self.with_screen(|screen| screen.draw(render));
    }

    /// Makes the next frame redraw everything after another program's output.
    pub fn invalidate(&mut self) {
        self.changed = true;
        self.with_screen(Screen::invalidate);
    }

    pub fn suspend(&mut self) {
        self.changed = true;
        self.with_screen(Screen::suspend);
        self.went_on = Some(Instant::now());
    }

    pub fn ring(&mut self) {
        self.with_screen(Screen::ring);
    }

    /// Ignores keys and mouse for this time, including queued ones: a key for an ended game must not trigger the next
    /// action. Ctrl-C, Ctrl-L and Ctrl-Z still work. A frame is due at the end.
    pub fn ignore_keys(&mut self, time: Duration) {
        self.quiet = Some(Instant::now() + time);
        self.changed = true;
    }

    pub const fn ignores_keys(&self) -> bool {
        self.quiet.is_some()
    }

    /// Bytes stay in a pipe until the program is `ready`. Cancellation safe.
    pub async fn next(&mut self, ready: bool) -> StageEvent {
        loop {
            if let Some(error) = self.trouble.take() {
                return StageEvent::Gone(error);
            }
            let event = select! {
                input = self.inputs.next(ready) => self.input(input),
                signal = self.signals.next() => self.signal(signal),
                () = sleep_until(self.next_frame), if self.changed && self.screen.is_some() => Some(StageEvent::Frame),
                () = sleep_until(self.quiet.unwrap_or(self.next_frame)), if self.quiet.is_some() => {
                    self.quiet = None;
                    self.changed = true;
                    None
                }
            };
            if let Some(event) = event {
                return event;
            }
        }
    }

    fn input(&mut self, input: Input) -> Option<StageEvent> {
        match input {
            Input::Event(Event::Key(key)) if self.ignores_keys() && !key.is_command() => {}
            Input::Event(Event::Mouse(_)) if self.ignores_keys() => {}
            Input::Event(Event::Key(typed)) => return Some(StageEvent::Key(typed)),
            Input::Event(Event::Mouse(mouse)) => return Some(StageEvent::Mouse(mouse)),
            Input::Event(Event::Resized) => self.changed = true,
            Input::Event(Event::Gone) => self.lose(ErrorKind::BrokenPipe.into()),
            Input::Byte(byte) => return Some(StageEvent::Byte(byte)),
            Input::End => return Some(StageEvent::End),
        }
        None
    }

    fn signal(&mut self, signal: Signal) -> Option<StageEvent> {
        match signal {
            Signal::Leave => return Some(StageEvent::Leave),
            Signal::HangUp => self.lose(ErrorKind::BrokenPipe.into()),
            Signal::Resized => self.changed = true,
            Signal::Stop => self.suspend(),
            // `suspend` has already resumed the screen.
            Signal::Continued if self.went_on.take().is_some_and(|when| when.elapsed() < OWN_CONTINUATION) => {}
            Signal::Continued => {
                self.changed = true;
                self.with_screen(Screen::resume);
            }
        }
        None
    }

    fn with_screen(&mut self, act: impl FnOnce(&mut Screen) -> io::Result<()>) {
        if let Some(Err(error)) = self.screen.as_mut().map(act) {
            self.lose(error);
        }
    }

    fn lose(&mut self, error: io::Error) {
        self.screen = None;
        self.inputs = Inputs::none();
        self.trouble = Some(error);
    }
}

/// The capacity of the queue of keys. If it is full, the reading thread waits.
const WAITING: usize = 64;
/// Between two keys from a pipe, so that a file of keys does not overflow the server's socket.
const PIPE_PACE: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Event(Event),
    Byte(u8),
    End,
}

#[derive(Debug)]
pub(crate) struct Inputs {
    inputs: Option<mpsc::Receiver<Input>>,
    // When to take the next byte from a pipe; `None` for a terminal, which is always read.
    next_byte: Option<Instant>,
}

impl Inputs {
    /// The terminal must be in raw mode.
    pub(crate) fn terminal() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(WAITING);
        events::listen(move |event| sender.blocking_send(Input::Event(event)).is_ok())?;
        Ok(Self { inputs: Some(inputs), next_byte: None })
    }

    pub(crate) fn pipe() -> io::Result<Self> {
        let (sender, inputs) = mpsc::channel(WAITING);
        thread::Builder::new().name("standard input".into()).spawn(move || {
            let mut chunk = [0; 1024];
            let mut stdin = io::stdin().lock();
            loop {
                match stdin.read(&mut chunk) {
                    Ok(0) => break,
                    Ok(count) => {
                        for &byte in &chunk[..count] {
                            if sender.blocking_send(Input::Byte(byte)).is_err() {
                                return;
                            }
                        }
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            // The program may have dropped the receiver.
            let _ = sender.blocking_send(Input::End);
        })?;
        Ok(Self { inputs: Some(inputs), next_byte: Some(Instant::now()) })
    }

    pub(crate) const fn none() -> Self {
        Self { inputs: None, next_byte: None }
    }

    /// Bytes stay in a pipe until the program is `ready`. Cancellation safe.
    pub(crate) async fn next(&mut self, ready: bool) -> Input {
        let Some(inputs) = &mut self.inputs else { return future::pending().await };
        if let Some(next_byte) = &mut self.next_byte {
            if !ready {
                return future::pending().await;
            }
            sleep_until(*next_byte).await;
        }
        let Some(input) = inputs.recv().await else {
            self.inputs = None;
            return Input::End;
        };
        if let Some(next_byte) = &mut self.next_byte {
            *next_byte = Instant::now() + PIPE_PACE;
        }
        input
    }
}
