//! Screen, keys and signals of a program that runs on tokio, as one thing to wait for.

use std::{
    future,
    io::{self, ErrorKind},
    time::Duration,
};

use ratatui::Frame;
use tokio::{
    select,
    time::{Instant, sleep_until},
};

use crate::{
    Event, Key, Keyboard, Mouse, Screen,
    inputs::{Input, Inputs},
    signals::{Signal, Signals},
};

/// The least time between two frames: sixty a second at most, whatever comes over the network.
const FRAME: Duration = Duration::from_millis(16);

/// How long after [`Stage::suspend`] a SIGCONT can be the one that ended it. It comes at once, but where nothing has stopped
/// none comes, and a later one is news.
const OWN_CONTINUATION: Duration = Duration::from_secs(1);

/// Where keys come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The terminal, key by key.
    Terminal,
    /// The terminal, key by key, and its mouse.
    TerminalAndMouse,
    /// The bytes of standard input.
    Pipe,
    /// Nowhere.
    Nothing,
}

/// What a program has to do something about. Window sizes, stopping and going on are seen to.
#[derive(Debug)]
pub enum StageEvent {
    /// A key of the terminal.
    Key(Key),
    /// The mouse of [`Source::TerminalAndMouse`].
    Mouse(Mouse),
    /// A byte of a pipe or file.
    Byte(u8),
    /// The end of the pipe or file.
    End,
    /// Somebody asks the program to leave in order: SIGINT, SIGTERM, SIGQUIT.
    Leave,
    /// The terminal is gone, and what the system said. Nothing is drawn and no key comes any more.
    Gone(io::Error),
    /// [`Stage::draw`] will draw.
    Frame,
}

/// The terminal in our hands, its keys, and the signals that come to the program.
#[derive(Debug)]
pub struct Stage {
    // None when nothing is to be drawn, or when the terminal is gone.
    screen: Option<Screen>,
    inputs: Inputs,
    signals: Signals,
    // When the next frame may be drawn; whether there is anything new to draw.
    next_frame: Instant,
    changed: bool,
    // When the program went on after it had stopped itself, until the signal that let it go on is heard of.
    went_on: Option<Instant>,
    // Until when keys are ignored, if they are.
    quiet: Option<Instant>,
    // Trouble with the terminal that was not told yet.
    trouble: Option<io::Error>,
}

impl Stage {
    /// Takes over standard output if something is to be `drawn` on it, and listens to keys and signals. To be called on a
    /// runtime, and before any other thread is started: one that does not know of SIGTSTP would stop the program while
    /// the terminal is ours.
    ///
    /// # Errors
    /// When the terminal or the system refuses; the terminal is then as it was.
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

    /// Takes in that there is something new to draw.
    pub const fn change(&mut self) {
        self.changed = true;
    }

    /// Draws, if there is anything new and the last frame is long enough ago; [`Stage::next`] says when it is.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) {
        let now = Instant::now();
        if !self.changed || now < self.next_frame {
            return;
        }
        self.changed = false;
        self.next_frame = now + FRAME;
        self.with_screen(|screen| screen.draw(render));
    }

    /// Makes the next frame draw everything again, because something else wrote on the terminal.
    pub fn forget(&mut self) {
        self.changed = true;
        self.with_screen(Screen::forget);
    }

    /// Gives the terminal back and stops the program, as Ctrl-Z does, until the shell lets it go on.
    pub fn suspend(&mut self) {
        self.changed = true;
        self.with_screen(Screen::suspend);
        self.went_on = Some(Instant::now());
    }

    /// Rings the terminal's bell, if there is a terminal.
    pub fn ring(&mut self) {
        self.with_screen(Screen::ring);
    }

    /// Ignores what is typed from now on for so long, what waits already included: keys that were meant for a game that has just
    /// ended must not choose what comes next. Ctrl-C, Ctrl-L and Ctrl-Z count all the same. A frame is due when it is over.
    pub fn ignore_keys(&mut self, time: Duration) {
        self.quiet = Some(Instant::now() + time);
        self.changed = true;
    }

    /// Whether keys are ignored.
    pub const fn ignores_keys(&self) -> bool {
        self.quiet.is_some()
    }

    /// Waits for what happens next. What is in a pipe waits until the program is `ready` for it. Dropping it before it is
    /// done loses nothing.
    pub async fn next(&mut self, ready: bool) -> StageEvent {
        loop {
            if let Some(error) = self.trouble.take() {
                return StageEvent::Gone(error);
            }
            let frame = (self.changed && self.screen.is_some()).then_some(self.next_frame);
            let event = select! {
                input = self.inputs.next(ready) => self.input(input),
                signal = self.signals.next() => self.signal(signal),
                () = until(frame) => Some(StageEvent::Frame),
                () = until(self.quiet) => {
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
            // The terminal is ours again already.
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

// For ever without a moment.
async fn until(moment: Option<Instant>) {
    match moment {
        Some(moment) => sleep_until(moment).await,
        None => future::pending().await,
    }
}
