//! Taking the terminal over and giving it back.

use std::{
    io::{self, Write},
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

#[cfg(unix)]
use ratatui::crossterm::style::Print;
use ratatui::{
    Frame, Terminal, TerminalOptions, Viewport,
    backend::{Backend, CrosstermBackend},
    crossterm::{
        cursor::{Hide, Show},
        execute, terminal,
    },
    layout::{Rect, Size},
};

/// What is taken for the size of a terminal that does not know its own.
const USUAL: Size = Size::new(80, 24);

/// Asks for presses and the wheel, but not for every move as crossterm does, in the form that knows any column.
#[cfg(unix)]
const MOUSE_ON: Print<&str> = Print("\x1b[?1000h\x1b[?1006h");
#[cfg(unix)]
const MOUSE_OFF: Print<&str> = Print("\x1b[?1006l\x1b[?1000l");
#[cfg(not(unix))]
use ratatui::crossterm::event::{DisableMouseCapture as MOUSE_OFF, EnableMouseCapture as MOUSE_ON};

/// Whether the terminal is in our hands. What is drawn while it is not goes nowhere.
static HELD: AtomicBool = AtomicBool::new(false);

/// Whether a program reads keys from the terminal that it draws on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyboard {
    /// Keys come one by one and unechoed (raw mode).
    Keys,
    /// The same, and the mouse is told of. Selecting text then takes Shift in most terminals.
    KeysAndMouse,
    /// Keys are not read, so the terminal keeps its mode, Ctrl-C included.
    Unread,
}

/// The terminal in our hands: the alternate screen, no cursor and, where keys are read, raw mode.
///
/// It is given back when the value is dropped and when any thread panics, before the panic's message is printed.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Output>>,
    keyboard: Keyboard,
    size: Size,
}

impl Screen {
    /// Takes the terminal over. Standard output must be one.
    ///
    /// # Errors
    /// When the terminal refuses; it is then as it was.
    pub fn enter(keyboard: Keyboard) -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let previous = panic::take_hook();
            panic::set_hook(Box::new(move |panic| {
                give_back();
                previous(panic);
            }));
        });
        take_over(keyboard)?;
        let size = current_size();
        let viewport = Viewport::Fixed(Rect::from((ratatui::layout::Position::ORIGIN, size)));
        match Terminal::with_options(CrosstermBackend::new(Output::default()), TerminalOptions { viewport }) {
            Ok(terminal) => Ok(Self { terminal, keyboard, size }),
            Err(error) => {
                give_back();
                Err(error)
            }
        }
    }

    /// Draws one frame, in the size that the window has now.
    ///
    /// # Errors
    /// When the terminal cannot be written to; it is then most likely gone.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let size = current_size();
        if size != self.size {
            self.size = size;
            self.terminal.backend_mut().clear()?;
            self.terminal.resize(Rect::from((ratatui::layout::Position::ORIGIN, size)))?;
        }
        self.terminal.draw(render)?;
        Ok(())
    }

    /// Makes the next [`Screen::draw`] draw everything again, because something else wrote on the terminal.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn forget(&mut self) -> io::Result<()> {
        self.terminal.backend_mut().clear()?;
        self.terminal.resize(Rect::from((ratatui::layout::Position::ORIGIN, self.size)))
    }

    /// Rings the terminal's bell.
    ///
    /// # Errors
    /// When the terminal cannot be written to.
    pub fn ring(&mut self) -> io::Result<()> {
        let output = self.terminal.backend_mut();
        Write::write_all(output, b"\x07")?;
        Write::flush(output)
    }

    /// Takes the terminal over again, after the shell had it.
    ///
    /// # Errors
    /// When the terminal refuses.
    pub fn resume(&mut self) -> io::Result<()> {
        // A shell sets its own modes, so ours have to be set anew.
        give_back();
        take_over(self.keyboard)?;
        self.forget()
    }

    /// Gives the terminal back and stops the program, as Ctrl-Z does, until the shell lets it go on. Where there is no
    /// job control nothing stops.
    ///
    /// # Errors
    /// When the terminal refuses to be taken over again.
    pub fn suspend(&mut self) -> io::Result<()> {
        give_back();
        #[cfg(unix)]
        crate::stops::stop()?;
        self.resume()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn take_over(keyboard: Keyboard) -> io::Result<()> {
    if keyboard != Keyboard::Unread {
        terminal::enable_raw_mode()?;
    }
    HELD.store(true, Ordering::SeqCst);
    execute!(io::stdout(), terminal::EnterAlternateScreen, Hide).inspect_err(|_| give_back())?;
    if keyboard == Keyboard::KeysAndMouse {
        execute!(io::stdout(), MOUSE_ON).inspect_err(|_| give_back())?;
    }
    Ok(())
}

fn give_back() {
    if HELD.swap(false, Ordering::SeqCst) {
        // When the terminal is gone there is nothing to restore and nobody to tell.
        let _ = execute!(io::stdout(), MOUSE_OFF, terminal::LeaveAlternateScreen, Show);
        // What was typed for the program is not meant for the shell.
        #[cfg(unix)]
        if terminal::is_raw_mode_enabled().unwrap_or(false) {
            let _ = nix::sys::termios::tcflush(io::stdin(), nix::sys::termios::FlushArg::TCIFLUSH);
        }
        let _ = terminal::disable_raw_mode();
    }
}

fn current_size() -> Size {
    let (width, height) = terminal::size().unwrap_or_default();
    let known = |value, usual| if value == 0 { usual } else { value };
    Size::new(known(width, USUAL.width), known(height, USUAL.height))
}

/// Standard output, a frame at a time.
///
/// Half a frame that is left behind by a panic must not land on the user's own screen.
#[derive(Debug, Default)]
struct Output {
    pending: Vec<u8>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        if HELD.load(Ordering::SeqCst) {
            let mut out = io::stdout().lock();
            out.write_all(&pending)?;
            out.flush()?;
        }
        Ok(())
    }
}
