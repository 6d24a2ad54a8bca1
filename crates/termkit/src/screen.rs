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

/// For a terminal that does not report its size.
const USUAL: Size = Size::new(80, 24);

/// Reports mouse presses and the wheel, but no movements as crossterm does, without a limit on columns (mode 1006).
#[cfg(unix)]
const MOUSE_ON: Print<&str> = Print("\x1b[?1000h\x1b[?1006h");
#[cfg(unix)]
const MOUSE_OFF: Print<&str> = Print("\x1b[?1006l\x1b[?1000l");
#[cfg(not(unix))]
use ratatui::crossterm::event::{DisableMouseCapture as MOUSE_OFF, EnableMouseCapture as MOUSE_ON};

/// Whether a [`Screen`] controls the terminal. Otherwise output is discarded.
static HELD: AtomicBool = AtomicBool::new(false);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyboard {
    /// Raw mode: keys are read one by one and not echoed.
    Keys,
    /// Most terminals then require Shift to select text.
    KeysAndMouse,
    /// The terminal keeps its mode, and Ctrl-C works as usual.
    Unread,
}

/// Control of the terminal: the alternate screen, a hidden cursor and, if keys are read, raw mode.
///
/// The terminal is restored when this value is dropped and when any thread panics, before the panic message is printed.
#[derive(Debug)]
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Output>>,
    keyboard: Keyboard,
    size: Size,
}

impl Screen {
    /// Standard output must be the terminal, which an error leaves restored.
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

    /// Draws at the current size of the window. On an error, the terminal has most likely hung up.
    pub fn draw(&mut self, render: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        let size = current_size();
        if size != self.size {
            self.size = size;
            self.invalidate()?;
        }
        self.terminal.draw(render)?;
        Ok(())
    }

    /// Makes the next [`Screen::draw`] redraw everything after another program's output.
    pub fn invalidate(&mut self) -> io::Result<()> {
        self.terminal.backend_mut().clear()?;
        self.terminal.resize(Rect::from((ratatui::layout::Position::ORIGIN, self.size)))
    }

    pub fn ring(&mut self) -> io::Result<()> {
        let output = self.terminal.backend_mut();
        Write::write_all(output, b"\x07")?;
        Write::flush(output)
    }

    pub fn resume(&mut self) -> io::Result<()> {
        // Shells change the modes of the terminal.
        release(false);
        take_over(self.keyboard)?;
        self.invalidate()
    }

    /// Restores the terminal and stops the program, as Ctrl-Z does. Without job control, it continues.
    pub fn suspend(&mut self) -> io::Result<()> {
        release(false);
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

// Unread input must not reach the shell.
fn give_back() {
    release(true);
}

// Without `discard_input`, the program reads pending input when it continues.
fn release(discard_input: bool) {
    if HELD.swap(false, Ordering::SeqCst) {
        // Ignores errors: if the terminal has hung up, there is nothing to restore.
        let _ = execute!(io::stdout(), MOUSE_OFF, terminal::LeaveAlternateScreen, Show);
        #[cfg(unix)]
        if discard_input && terminal::is_raw_mode_enabled().unwrap_or(false) {
            let _ = nix::sys::termios::tcflush(io::stdin(), nix::sys::termios::FlushArg::TCIFLUSH);
        }
        // Other systems have no call for this.
        #[cfg(not(unix))]
        let _ = discard_input;
        let _ = terminal::disable_raw_mode();
    }
}

fn current_size() -> Size {
    let (width, height) = terminal::size().unwrap_or_default();
    let known = |value, usual| if value == 0 { usual } else { value };
    Size::new(known(width, USUAL.width), known(height, USUAL.height))
}

/// Drops a frame that a panic interrupts.
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
