//! Lines of input, however long and whatever is in them, and lines of output.

use std::io::{self, BufRead, ErrorKind, Read, StdinLock, Stdout, Write};

use crate::{interrupt, voice};

/// Bytes of a line that are kept: far more than any answer has.
const KEPT: usize = 256;
/// Characters of a wrong answer that are shown again.
const SHOWN: usize = 24;
/// Stands for the rest of a line that was too long.
const CUT: &str = "…";

/// Why there is no further line.
pub(super) enum Stop {
    /// The input is at its end.
    End,
    /// The player wants to leave.
    Quit,
    /// The output cannot be written to.
    Output(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

pub(super) type Said<T> = Result<T, Stop>;

/// The player, line by line.
pub(super) struct Talk {
    input: StdinLock<'static>,
    output: Stdout,
    /// Whether a person reads along on a terminal. What is written through a pipe is for programs: each item on one line,
    /// nothing else.
    pub(super) person: bool,
    /// Whether the colours of answers were explained.
    pub(super) explained: bool,
}

impl Talk {
    pub(super) fn new(person: bool) -> Self {
        Self { input: io::stdin().lock(), output: io::stdout(), person, explained: false }
    }

    /// Writes one or more lines; for a person, each wrapped at words.
    pub(super) fn say(&mut self, line: &str) -> io::Result<()> {
        if self.person {
            let width = usize::from(cmdkit::stdout_size().0);
            for row in line.split('\n').flat_map(|line| termkit::wrap(line, width)) {
                writeln!(self.output, "{row}")?;
            }
        } else {
            writeln!(self.output, "{line}")?;
        }
        self.output.flush()
    }

    pub(super) fn say_all(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) -> io::Result<()> {
        lines.into_iter().try_for_each(|line| self.say(line.as_ref()))
    }

    /// Writes a prompt and reads the answer, without blanks around it. `quit` and `help` are understood at each.
    pub(super) fn ask(&mut self, prompt: &str) -> Said<String> {
        loop {
            self.prompt(prompt)?;
            let line = read_line(&mut self.input);
            if let Some(answer) = self.answer(line)? {
                return Ok(answer);
            }
        }
    }

    /// The same for an answer of `length` characters that nobody else may see: on a terminal stars are shown for it.
    pub(super) fn ask_unseen(&mut self, prompt: &str, length: usize) -> Said<String> {
        loop {
            let line = if let Some(hidden) = interrupt::ask_unseen(prompt, length) {
                read_typed(&mut self.input, |typed| hidden.show(typed))
            } else {
                self.prompt(prompt)?;
                read_line(&mut self.input)
            };
            if let Some(answer) = self.answer(line)? {
                return Ok(answer);
            }
        }
    }

    fn prompt(&mut self, prompt: &str) -> io::Result<()> {
        self.output.write_all(prompt.as_bytes())?;
        self.output.flush()
    }

    /// What was answered, unless it was `help`.
    fn answer(&mut self, line: Option<String>) -> Said<Option<String>> {
        let line = line.ok_or(Stop::End)?;
        let answer = line.trim();
        match &*answer.to_ascii_lowercase() {
            "quit" | "exit" | "q" => Err(Stop::Quit),
            "help" | "?" => {
                self.say_all(voice::HELP)?;
                Ok(None)
            }
            _ => Ok(Some(answer.to_owned())),
        }
    }
}

/// The next line of a terminal that edits no lines. `show` is told after each key how many characters it has. `None` as for
/// [`read_line`].
fn read_typed(input: &mut impl BufRead, mut show: impl FnMut(usize)) -> Option<String> {
    let mut typed = String::new();
    loop {
        let byte = match input.fill_buf() {
            Ok(chunk) => *chunk.first()?,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        input.consume(1);
        match byte {
            b'\n' | b'\r' => return Some(typed),
            // Ctrl-D ends the input where the line is empty.
            0x04 if typed.is_empty() => return None,
            // Backspace; Ctrl-U and Ctrl-W.
            0x08 | 0x7f => drop(typed.pop()),
            0x15 | 0x17 => typed.clear(),
            b' '..=b'~' if typed.len() < KEPT => typed.push(char::from(byte)),
            _ => {}
        }
        show(typed.len());
    }
}

/// The next line as text. Bytes that are not UTF-8 become U+FFFD, which no answer has. `None` at the end of the input, and when it
/// cannot be read.
fn read_line(input: &mut impl BufRead) -> Option<String> {
    let mut line = Vec::new();
    input.by_ref().take(KEPT as u64 + 1).read_until(b'\n', &mut line).ok()?;
    let cut = line.len() > KEPT && !line.ends_with(b"\n");
    if cut {
        line.truncate(KEPT);
        input.skip_until(b'\n').ok()?;
    }
    let text = String::from_utf8_lossy(&line);
    let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
    (!line.is_empty()).then(|| if cut { text + CUT } else { text })
}

/// A wrong answer in a form that any terminal can show.
pub(super) fn quoted(typed: &str) -> String {
    if typed.is_empty() {
        return "An empty line".into();
    }
    let mut shown: String = typed.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if typed.chars().nth(SHOWN).is_some() {
        shown.push_str(CUT);
    }
    format!("'{shown}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds() {
        let mut input = [&b"4\r\n\n \xff7\n"[..], &b"1".repeat(5000), b"\nlast"].concat();
        input.extend([0]);
        // A small buffer, so that lines are cut anywhere.
        let mut reader = io::BufReader::with_capacity(7, &input[..]);
        let mut next = || read_line(&mut reader);
        assert_eq!(next().unwrap(), "4\r");
        assert_eq!(next().unwrap(), "");
        assert_eq!(next().unwrap(), " \u{fffd}7");
        assert_eq!(next().unwrap(), format!("{}…", "1".repeat(KEPT)));
        assert_eq!(next().unwrap(), "last\0");
        assert_eq!(next(), None);
        assert_eq!(next(), None);
    }

    #[test]
    fn a_wrong_answer_is_shown_short_and_harmless() {
        assert_eq!(quoted(""), "An empty line");
        assert_eq!(quoted("\x1b[2J"), "'\\u{1b}[2J'");
        assert_eq!(quoted(&"x".repeat(99)), format!("'{}…'", "x".repeat(SHOWN)));
    }

    #[test]
    fn unseen_lines_are_edited_and_counted() {
        let mut input = &b"12\x7f34\x15567\x04\x088\x1b\rquit\n\x04"[..];
        let mut counts = Vec::new();
        let mut line = || read_typed(&mut input, |typed| counts.push(typed));
        assert_eq!((line(), line(), line()), (Some("568".into()), Some("quit".into()), None));
        assert_eq!(counts[..12], [1, 2, 1, 2, 3, 0, 1, 2, 3, 3, 2, 3]);
    }
}
