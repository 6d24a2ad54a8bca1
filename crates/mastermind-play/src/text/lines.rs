//! Lines of input, however long and whatever is in them, and lines of output.

use std::io::{self, BufRead, ErrorKind, Write};

use super::{Said, Stop};

/// Bytes of a line that are kept: far more than any answer has.
const KEPT: usize = 256;
/// Characters of a wrong answer that are shown again.
const SHOWN: usize = 24;
/// Stands for the rest of a line that was too long.
const CUT: char = '…';

/// Whom the program talks with.
pub(super) struct Talk<R, W> {
    input: R,
    output: W,
}

impl<R: BufRead, W: Write> Talk<R, W> {
    pub(super) const fn new(input: R, output: W) -> Self {
        Self { input, output }
    }

    /// Writes a line.
    pub(super) fn say(&mut self, line: &str) -> io::Result<()> {
        writeln!(self.output, "{line}")?;
        self.output.flush()
    }

    /// Writes a prompt and reads the answer, without blanks around it.
    pub(super) fn ask(&mut self, prompt: &str) -> Said<String> {
        self.output.write_all(prompt.as_bytes())?;
        self.output.flush()?;
        let line = read_line(&mut self.input).ok_or(Stop::End)?;
        Ok(line.trim().to_owned())
    }
}

/// The next line, as text; what is not UTF-8 is a character that no answer has. `None` at the end of the input, and when it
/// cannot be read, which is no different to whoever plays.
fn read_line(input: &mut impl BufRead) -> Option<String> {
    let (mut kept, mut cut, mut any) = (Vec::new(), false, false);
    loop {
        let chunk = match input.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return None,
        };
        if chunk.is_empty() {
            break;
        }
        any = true;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let line = &chunk[..end.unwrap_or(chunk.len())];
        let room = KEPT - kept.len();
        cut |= line.len() > room;
        kept.extend_from_slice(&line[..line.len().min(room)]);
        let used = line.len() + usize::from(end.is_some());
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    any.then(|| {
        let mut text = String::from_utf8_lossy(&kept).into_owned();
        if cut {
            text.push(CUT);
        }
        text
    })
}

/// A wrong answer, so that it can be shown on any terminal.
pub(super) fn quoted(typed: &str) -> String {
    if typed.is_empty() {
        return "An empty line".into();
    }
    let mut shown: String = typed.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if typed.chars().nth(SHOWN).is_some() {
        shown.push(CUT);
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
}
