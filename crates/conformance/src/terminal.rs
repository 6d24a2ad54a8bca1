//! Pseudo-terminals. The output of `printf` in a C program stays in its buffer if standard output is a pipe, but is
//! written line by line if it is a terminal.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{
    fs::File,
    io::{self, Read, Write},
    process::{ChildStdout, Command, Stdio},
};

/// The final letters of sequences that move the cursor or switch the screen.
const JUMPS: &str = "ABCDEFGHJdfhl";

/// The streams of a program under test that are at a pseudo-terminal. Systems without pseudo-terminals use pipes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminal {
    /// None.
    #[default]
    No,
    /// Standard output.
    Output,
    /// Standard output and standard input. Bytes are passed unchanged.
    Whole,
    /// Standard output and standard input, in a shell's terminal mode: with echo and line-based input.
    Shell,
}

impl Terminal {
    pub(crate) const fn has_input(self) -> bool {
        matches!(self, Self::Whole | Self::Shell)
    }
}

/// The number of rows of a window that is large enough for the largest map of a scenario.
pub(crate) const ROWS: u16 = 100;
#[cfg(unix)]
const WINDOW: rustix::termios::Winsize =
    rustix::termios::Winsize { ws_row: ROWS, ws_col: 300, ws_xpixel: 0, ws_ypixel: 0 };

/// The tester's end of a program's standard output.
pub(crate) enum Output {
    None,
    Pipe(ChildStdout),
    #[cfg_attr(not(unix), allow(dead_code, reason = "unused on other systems"))]
    Terminal(File),
}

/// The standard output that the program receives.
pub(crate) enum Theirs {
    Pipe,
    #[cfg(unix)]
    Terminal(OwnedFd),
}

impl Output {
    pub(crate) fn open(terminal: Terminal) -> io::Result<(Self, Theirs)> {
        if terminal == Terminal::No {
            return Ok((Self::None, Theirs::Pipe));
        }
        pair(terminal == Terminal::Shell)
    }

    /// This output, or the pipe if there is no terminal.
    pub(crate) fn or(self, pipe: Option<ChildStdout>) -> Self {
        match (self, pipe) {
            (Self::None, Some(pipe)) => Self::Pipe(pipe),
            (output, _) => output,
        }
    }

    /// A writer that types at the terminal.
    pub(crate) fn keyboard(&self) -> io::Result<Option<Box<dyn Write + Send>>> {
        let Self::Terminal(terminal) = self else { return Ok(None) };
        Ok(Some(Box::new(terminal.try_clone()?)))
    }
}

#[cfg(unix)]
fn pair(is_cooked: bool) -> io::Result<(Output, Theirs)> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    use rustix::{
        fs::{Mode, OFlags, open},
        io::{FdFlags, fcntl_setfd},
        pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
        termios::{OptionalActions, tcgetattr, tcsetattr, tcsetwinsize},
    };

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    // If another program had this end open, the tester would not detect the end of this one's output.
    fcntl_setfd(&ours, FdFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let theirs = open(OsStr::from_bytes(name.as_bytes()), flags, Mode::empty())?;
    if !is_cooked {
        // Bytes are passed unchanged: no echo, no signals, no conversion of line ends.
        let mut modes = tcgetattr(&theirs)?;
        modes.make_raw();
        tcsetattr(&theirs, OptionalActions::Now, &modes)?;
    }
    tcsetwinsize(&theirs, WINDOW)?;
    Ok((Output::Terminal(ours.into()), Theirs::Terminal(theirs)))
}

#[cfg(not(unix))]
fn pair(_: bool) -> io::Result<(Output, Theirs)> {
    Ok((Output::None, Theirs::Pipe))
}

impl Theirs {
    /// Sets the standard output of a command.
    pub(crate) fn give(&self, command: &mut Command) -> io::Result<()> {
        command.stdout(self.stdio()?);
        Ok(())
    }

    /// Sets the standard input of a command too.
    pub(crate) fn give_input(&self, command: &mut Command) -> io::Result<()> {
        command.stdin(self.stdio()?);
        Ok(())
    }

    fn stdio(&self) -> io::Result<Stdio> {
        match self {
            Self::Pipe => Ok(Stdio::piped()),
            #[cfg(unix)]
            Self::Terminal(terminal) => Ok(terminal.try_clone()?.into()),
        }
    }
}

impl Read for Output {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::None => Ok(0),
            Self::Pipe(pipe) => pipe.read(buffer),
            // The end of a terminal is reported as an error.
            Self::Terminal(terminal) => terminal.read(buffer).or(Ok(0)),
        }
    }
}

/// The text without sequences that change colours or clear the screen. A line ends where the cursor jumps.
pub(crate) fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\x1b' {
            plain.push(if letter == '\r' { '\n' } else { letter });
            continue;
        }
        match letters.next() {
            // Ends at a letter, as in ESC [ 31 m.
            Some('[') => {
                let end = letters.find(|letter| ('@'..='~').contains(letter));
                if end.is_some_and(|end| JUMPS.contains(end)) {
                    plain.push('\n');
                }
            }
            // Ends at the bell, as for window titles.
            Some(']') => drop(letters.find(|&letter| letter == '\x07')),
            // One more character, as for character sets.
            Some('(' | ')' | '#') => drop(letters.next()),
            _ => {}
        }
    }
    plain
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn removes_cursor_movements() {
        assert_eq!(plain("\x1b[1;31mport\x1b[0m 2021\x1b(B"), "port 2021");
        assert_eq!(plain("@ here\x1b[24;1H\x1b[?1049l\rGAME OVER"), "@ here\n\n\nGAME OVER");
        assert_eq!(plain("\x1b]0;title\x07text\x1b"), "text");
    }

    #[test]
    fn terminal_passes_bytes_unchanged() {
        let (mut output, theirs) = Output::open(Terminal::Output).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 1 && printf 'a\\nb'"]).stdin(Stdio::null());
        theirs.give(&mut command).unwrap();
        let mut program = command.spawn().unwrap();
        drop((command, theirs));
        let mut read = String::new();
        output.read_to_string(&mut read).unwrap();
        assert_eq!(read, "a\nb");
        assert!(program.wait().unwrap().success());
    }

    #[test]
    fn terminal_of_a_shell_is_large_and_reads_lines() {
        let (mut output, theirs) = Output::open(Terminal::Shell).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "stty size; stty -a | grep -wo 'icanon\\|echo'"]);
        theirs.give(&mut command).unwrap();
        theirs.give_input(&mut command).unwrap();
        let mut program = command.spawn().unwrap();
        drop((command, theirs));
        let mut read = String::new();
        output.read_to_string(&mut read).unwrap();
        assert_eq!(read, "100 300\r\nicanon\r\necho\r\n");
        assert!(program.wait().unwrap().success());
    }
}
