//! Pseudo-terminals for programs under test: C's `printf` buffers its output on a pipe, but writes line by line to a
//! terminal.

use std::{
    fs::File,
    io::{self, Read, Write},
    process::{ChildStdout, Command, Stdio},
};

#[cfg(unix)]
use std::os::fd::OwnedFd;

/// The final letters of sequences that move the cursor or switch the screen.
const JUMPS: &str = "ABCDEFGHJdfhl";

/// Systems without pseudo-terminals use pipes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Terminal {
    #[default]
    No,
    Output,
    /// For standard input and output, which pass bytes unchanged.
    Whole,
    /// Like [`Self::Whole`], but in a shell's terminal mode: with echo and line-based input.
    Shell,
}

impl Terminal {
    pub(crate) const fn has_input(self) -> bool {
        matches!(self, Self::Whole | Self::Shell)
    }
}

/// The rows of a window, enough for the largest map of a scenario.
pub(crate) const ROWS: u16 = 100;
#[cfg(unix)]
const WINDOW: rustix::termios::Winsize =
    rustix::termios::Winsize { ws_row: ROWS, ws_col: 300, ws_xpixel: 0, ws_ypixel: 0 };

pub(crate) enum Output {
    None,
    Pipe(ChildStdout),
    #[cfg_attr(not(unix), allow(dead_code, reason = "unused on other systems"))]
    Terminal(File),
}

pub(crate) enum ChildEnd {
    Pipe,
    #[cfg(unix)]
    Terminal(OwnedFd),
}

impl Output {
    pub(crate) fn open(terminal: Terminal) -> io::Result<(Self, ChildEnd)> {
        if terminal == Terminal::No {
            return Ok((Self::None, ChildEnd::Pipe));
        }
        pair(terminal == Terminal::Shell)
    }

    pub(crate) fn or(self, pipe: Option<ChildStdout>) -> Self {
        match (self, pipe) {
            (Self::None, Some(pipe)) => Self::Pipe(pipe),
            (output, _) => output,
        }
    }

    pub(crate) fn keyboard(&self) -> io::Result<Option<Box<dyn Write + Send>>> {
        let Self::Terminal(terminal) = self else { return Ok(None) };
        Ok(Some(Box::new(terminal.try_clone()?)))
    }
}

#[cfg(unix)]
fn pair(is_cooked: bool) -> io::Result<(Output, ChildEnd)> {
    use std::{ffi::OsStr, os::unix::ffi::OsStrExt as _};

    use rustix::{
        fs::{Mode, OFlags, open},
        io::{FdFlags, fcntl_setfd},
        pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
        termios::{OptionalActions, tcgetattr, tcsetattr, tcsetwinsize},
    };

    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    // If another program had this end open, the tester would not detect the end of the output.
    fcntl_setfd(&ours, FdFlags::CLOEXEC)?;
    grantpt(&ours)?;
    unlockpt(&ours)?;
    let name = ptsname(&ours, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let child_end = open(OsStr::from_bytes(name.as_bytes()), flags, Mode::empty())?;
    if !is_cooked {
        let mut modes = tcgetattr(&child_end)?;
        modes.make_raw();
        tcsetattr(&child_end, OptionalActions::Now, &modes)?;
    }
    tcsetwinsize(&child_end, WINDOW)?;
    Ok((Output::Terminal(ours.into()), ChildEnd::Terminal(child_end)))
}

#[cfg(not(unix))]
fn pair(_: bool) -> io::Result<(Output, ChildEnd)> {
    Ok((Output::None, ChildEnd::Pipe))
}

impl ChildEnd {
    pub(crate) fn attach_output(&self, command: &mut Command) -> io::Result<()> {
        command.stdout(self.stdio()?);
        Ok(())
    }

    pub(crate) fn attach_input(&self, command: &mut Command) -> io::Result<()> {
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
            // A terminal reports its end as an error.
            Self::Terminal(terminal) => terminal.read(buffer).or(Ok(0)),
        }
    }
}

/// Removes sequences that change colours or clear the screen. A line ends where the cursor jumps.
pub(crate) fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        if letter != '\x1b' {
            plain.push(if letter == '\r' { '\n' } else { letter });
            continue;
        }
        match letters.next() {
            // As in ESC [ 31 m.
            Some('[') => {
                let end = letters.find(|letter| ('@'..='~').contains(letter));
                if end.is_some_and(|end| JUMPS.contains(end)) {
                    plain.push('\n');
                }
            }
            // A window title, up to the bell.
            Some(']') => drop(letters.find(|&letter| letter == '\x07')),
            // A character set: one more character.
            Some('(' | ')' | '#') => drop(letters.next()),
            _ => {}
        }
    }
    plain
}

/// Lines are truncated here. Programs get the size of the window from the terminal.
const COLS: usize = 1024;
const MAX_LINES: usize = 4096;
const ESCAPE: char = '\x1b';

#[derive(Clone, Default)]
struct Page {
    lines: Vec<Vec<char>>,
    row: usize,
    col: usize,
    top: usize,
}

pub(crate) struct Screen {
    rows: usize,
    usual: Page,
    // Discarded when the program leaves it.
    alternate: Option<Page>,
    open: String,
    last: char,
}

impl Screen {
    pub(crate) const fn new(rows: usize) -> Self {
        let usual = Page { lines: Vec::new(), row: 0, col: 0, top: 0 };
        Self { rows, usual, alternate: None, open: String::new(), last: ' ' }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        let page = self.alternate.as_ref().unwrap_or(&self.usual);
        page.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned())
    }

    pub(crate) fn write(&mut self, text: &str) {
        for letter in text.chars() {
            if self.open.is_empty() {
                match letter {
                    ESCAPE => self.open.push(letter),
                    _ => self.print(letter),
                }
                continue;
            }
            self.open.push(letter);
            let mut rest = self.open.chars().skip(1);
            let is_complete = match rest.next() {
                Some('[') => rest.next().is_some() && ('@'..='~').contains(&letter),
                Some(']') => letter == '\x07' || self.open.ends_with("\x1b\\"),
                Some('(' | ')' | '#' | '%' | ' ') => rest.next().is_some(),
                _ => true,
            };
            if is_complete {
                let sequence = std::mem::take(&mut self.open);
                self.execute(&sequence);
            } else if self.open.len() > COLS {
                self.open.clear();
            }
        }
    }

    fn page(&mut self) -> &mut Page {
        self.alternate.as_mut().unwrap_or(&mut self.usual)
    }

    fn print(&mut self, letter: char) {
        let rows = self.rows;
        let page = self.page();
        match letter {
            '\n' => page.line_feed(rows),
            '\r' => page.col = 0,
            '\x08' => page.col = page.col.saturating_sub(1),
            '\t' => page.col = (page.col / 8 + 1) * 8,
            _ if letter.is_control() => {}
            _ => {
                page.put(letter);
                self.last = letter;
            }
        }
    }

    fn execute(&mut self, sequence: &str) {
        let (rows, last) = (self.rows, self.last);
        let Some(control) = sequence.strip_prefix("\x1b[") else {
            if sequence == "\x1bM" {
                let page = self.page();
                page.row = page.row.saturating_sub(1).max(page.top);
            }
            return;
        };
        let (words, end) = control.split_at(control.len() - 1);
        if let Some(mode) = words.strip_prefix('?') {
            let is_other = mode.split(';').any(|mode| ["47", "1047", "1049"].contains(&mode));
            match end {
                "h" if is_other => self.alternate = Some(Page::default()),
                "l" if is_other => self.alternate = None,
                _ => {}
            }
            return;
        }
        let numbers: Vec<usize> = words.split(';').map(|word| word.parse().unwrap_or(0)).collect();
        let given = |at: usize| numbers.get(at).copied().unwrap_or(0);
        let count = given(0).clamp(1, COLS);
        let page = self.page();
        let bottom = page.top + rows - 1;
        match end {
            "A" => page.row = page.row.saturating_sub(count).max(page.top),
            "B" | "e" => page.row = (page.row + count).min(bottom),
            "C" | "a" => page.col += count,
            "D" => page.col = page.col.saturating_sub(count),
            "E" => (page.row, page.col) = ((page.row + count).min(bottom), 0),
            "F" => (page.row, page.col) = (page.row.saturating_sub(count).max(page.top), 0),
            "G" | "`" => page.col = count - 1,
            "d" => page.row = (page.top + count - 1).min(bottom),
            "H" | "f" => {
                page.row = (page.top + count - 1).min(bottom);
                page.col = given(1).clamp(1, COLS) - 1;
            }
            "J" => page.clear(given(0)),
            "K" => page.clear_line(given(0)),
            "X" => (0..count).for_each(|at| page.set(page.row, page.col + at, ' ')),
            "P" => {
                let (row, col) = (page.row, page.col);
                if let Some(line) = page.lines.get_mut(row) {
                    let end = line.len();
                    line.drain(col.min(end)..(col + count).min(end));
                }
            }
            "@" => {
                let (row, col) = (page.row, page.col);
                if let Some(line) = page.lines.get_mut(row).filter(|line| col < line.len()) {
                    line.splice(col..col, std::iter::repeat_n(' ', count));
                    line.truncate(COLS);
                }
            }
            "L" => (0..count.min(rows)).for_each(|_| page.insert(rows)),
            "M" => (0..count.min(rows)).for_each(|_| page.remove()),
            "b" => (0..count).for_each(|_| page.put(last)),
            _ => {}
        }
    }
}

impl Page {
    fn set(&mut self, row: usize, col: usize, letter: char) {
        if col >= COLS || row >= MAX_LINES {
            return;
        }
        if self.lines.len() <= row {
            self.lines.resize_with(row + 1, Vec::new);
        }
        let line = &mut self.lines[row];
        if line.len() <= col {
            line.resize(col + 1, ' ');
        }
        line[col] = letter;
    }

    fn put(&mut self, letter: char) {
        self.set(self.row, self.col, letter);
        self.col += 1;
    }

    fn line_feed(&mut self, rows: usize) {
        self.row += 1;
        self.top = self.top.max((self.row + 1).saturating_sub(rows));
        if self.row >= MAX_LINES {
            let (gone, lines) = (self.row / 2, self.lines.len());
            self.lines.drain(..gone.min(lines));
            (self.row, self.top) = (self.row - gone, self.top.saturating_sub(gone));
        }
    }

    // The rest of the screen (0), the part before the cursor (1), or all.
    fn clear(&mut self, what: usize) {
        let lines = match what {
            0 => self.row + 1..usize::MAX,
            1 => self.top..self.row,
            _ => self.top..usize::MAX,
        };
        for line in self.lines.iter_mut().take(lines.end).skip(lines.start) {
            line.clear();
        }
        self.clear_line(what);
    }

    fn clear_line(&mut self, what: usize) {
        let (row, col) = (self.row, self.col);
        let Some(line) = self.lines.get_mut(row) else { return };
        match what {
            0 => line.truncate(col),
            1 => line.iter_mut().take(col + 1).for_each(|letter| *letter = ' '),
            _ => line.clear(),
        }
    }

    fn insert(&mut self, rows: usize) {
        if self.row < self.lines.len() {
            self.lines.insert(self.row, Vec::new());
            self.lines.truncate(self.top + rows);
        }
    }

    fn remove(&mut self) {
        if self.row < self.lines.len() {
            self.lines.remove(self.row);
        }
    }
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
        let (mut output, child_end) = Output::open(Terminal::Output).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "test -t 1 && printf 'a\\nb'"]).stdin(Stdio::null());
        child_end.attach_output(&mut command).unwrap();
        let mut program = command.spawn().unwrap();
        drop((command, child_end));
        let mut read = String::new();
        output.read_to_string(&mut read).unwrap();
        assert_eq!(read, "a\nb");
        assert!(program.wait().unwrap().success());
    }

    #[test]
    fn terminal_of_a_shell_is_large_and_reads_lines() {
        let (mut output, child_end) = Output::open(Terminal::Shell).unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "stty size; stty -a | grep -wo 'icanon\\|echo'"]);
        child_end.attach_output(&mut command).unwrap();
        child_end.attach_input(&mut command).unwrap();
        let mut program = command.spawn().unwrap();
        drop((command, child_end));
        let mut read = String::new();
        output.read_to_string(&mut read).unwrap();
        assert_eq!(read, "100 300\r\nicanon\r\necho\r\n");
        assert!(program.wait().unwrap().success());
    }

    fn screen_lines(text: &str) -> Vec<String> {
        let mut screen = Screen::new(4);
        screen.write(text);
        screen.lines().collect()
    }

    #[test]
    fn cursor_jumps_leave_blanks() {
        assert_eq!(screen_lines("A\x1b[10C16 Tess\r\n\x1b[1;3Hx"), ["A x        16 Tess"]);
        assert_eq!(screen_lines("\x1b[2;3Hb\x1b[31mc\x1b(B\x1b[0md\x1b[3b"), ["", "  bcdddd"]);
    }

    #[test]
    fn alternate_screen_leaves_nothing() {
        assert_eq!(screen_lines("before\r\n\x1b[?1049hGAME OVER\x1b[?1049lafter"), ["before", "after"]);
        assert_eq!(
            screen_lines("\x1b[?1049hGAME"),
            ["GAME"],
            "the alternate screen of a program that does not leave it counts"
        );
    }

    #[test]
    fn cleared_lines_are_removed_and_scrolled_lines_are_kept() {
        assert_eq!(screen_lines("map\x1b[H\x1b[2Jover"), ["over"]);
        assert_eq!(screen_lines("1\r\n2\r\n3\r\n4\r\n5\x1b[H\x1b[Jx"), ["1", "x", "", "", ""]);
        assert_eq!(screen_lines("abc\x1b[2D\x1b[Kd\x1b[1J"), [""]);
    }

    #[test]
    fn escape_sequences_may_arrive_in_pieces() {
        let mut screen = Screen::new(4);
        "\x1b]0;title\x07a\x1b[2Cb".chars().for_each(|letter| screen.write(&letter.to_string()));
        assert_eq!(screen.lines().collect::<Vec<_>>(), ["a  b"]);
    }
}
