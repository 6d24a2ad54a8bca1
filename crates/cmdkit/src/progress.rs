//! A progress line on standard error, which is redrawn while a computation runs.

use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use terminal_size::{Width, terminal_size_of};

/// Columns of a window whose size is unknown.
const USUAL: u16 = 80;
/// How often the line is drawn on a terminal.
const ON_TERMINAL: Duration = Duration::from_millis(100);

/// A line that is drawn over and over on a terminal, and written now and then elsewhere, where each line stays.
#[derive(Debug)]
pub struct ProgressLine {
    terminal: bool,
    start: Instant,
    // None when nothing is to be shown any more.
    pause: Option<Duration>,
    drawn: Option<Instant>,
}

impl ProgressLine {
    /// The line of work that begins now. If standard error is no terminal, a line is written every `elsewhere`, the first one
    /// after that time, or never.
    pub fn start(elsewhere: Option<Duration>) -> Self {
        let terminal = io::stderr().is_terminal();
        let pause = if terminal { Some(ON_TERMINAL) } else { elsewhere };
        Self { terminal, start: Instant::now(), pause, drawn: None }
    }

    /// How long the work has taken so far.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Draws the line that `line` gives, unless the last one is too young. Without a terminal the first one is too, until the
    /// pause is over.
    pub fn draw(&mut self, line: impl FnOnce(Duration) -> String) {
        let since = self.drawn.unwrap_or(self.start);
        let first = self.terminal && self.drawn.is_none();
        if self.pause.is_some_and(|pause| first || since.elapsed() >= pause) {
            self.draw_now(line);
        }
    }

    /// Draws the line whenever the last one was drawn.
    pub fn draw_now(&mut self, line: impl FnOnce(Duration) -> String) {
        if self.pause.is_none() {
            return;
        }
        self.drawn = Some(Instant::now());
        let line = line(self.elapsed());
        let drawn = if self.terminal { format!("\r\x1b[K{}", fit_stderr(&line)) } else { format!("{line}\n") };
        self.write(&drawn);
    }

    /// Leaves the last line where it is, so that others can be written below it. The next one is a new one.
    pub fn end(&mut self) {
        if self.terminal && self.drawn.take().is_some() {
            self.write("\n");
        }
    }

    fn write(&mut self, text: &str) {
        // Nobody waits for a progress line: where it cannot be written it is given up.
        if io::stderr().write_all(text.as_bytes()).is_err() {
            self.pause = None;
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.end();
    }
}

/// How long the rest of some work takes if it goes on as it did; none before there is anything to judge by, and at the end.
pub fn time_left(done: u64, whole: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || done >= whole {
        return None;
    }
    let nanos = elapsed.as_nanos().saturating_mul(u128::from(whole - done)) / u128::from(done);
    Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

/// A time as hours, minutes and seconds: `0:06`, `4:38`, `1:02:03`.
///
/// ```
/// # use std::time::Duration;
/// assert_eq!(cmdkit::clock_time(Duration::from_secs(278)), "4:38");
/// ```
pub fn clock_time(time: Duration) -> String {
    let (hours, minutes, seconds) = (time.as_secs() / 3600, time.as_secs() / 60 % 60, time.as_secs() % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// A bar of `columns` characters between brackets, filled in proportion to `done` of `whole`.
///
/// ```
/// assert_eq!(cmdkit::progress_bar(1, 4, 8), "[##......]");
/// ```
pub fn progress_bar(done: u64, whole: u64, columns: usize) -> String {
    let full = u128::from(done) * columns as u128 / u128::from(whole.max(1));
    let full = usize::try_from(full).unwrap_or(columns).min(columns);
    format!("[{}{}]", "#".repeat(full), ".".repeat(columns - full))
}

/// The front of `line` that fits the width of the terminal that standard error is. A longer line would wrap and leave a row
/// behind each time that it is redrawn.
pub fn fit_stderr(line: &str) -> &str {
    cut(line, terminal_size_of(io::stderr()).map_or(0, |(Width(columns), _)| columns))
}

// The last column stays free: some terminals wrap once it is filled, others lose it to the erase sequence at the end.
// `columns` is 0 if the width is unknown.
fn cut(line: &str, columns: u16) -> &str {
    let columns = if columns == 0 { USUAL } else { columns };
    let most = usize::from(columns - 1).max(1);
    line.char_indices().nth(most).map_or(line, |(end, _)| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_full_when_all_is_done_and_not_longer() {
        assert_eq!(progress_bar(50, 100, 30), "[###############...............]");
        for done in [100, 101, u64::MAX] {
            assert_eq!(progress_bar(done, 100, 5), "[#####]");
        }
        assert_eq!(progress_bar(0, 0, 3), "[...]");
    }

    #[test]
    fn the_time_left_follows_from_what_is_done() {
        let second = Duration::from_secs(1);
        assert_eq!(time_left(25, 100, second), Some(3 * second));
        assert_eq!([time_left(0, 9, second), time_left(9, 9, second), time_left(10, 9, second)], [None; 3]);
        assert_eq!(time_left(1, u64::MAX, 9_999 * second), Some(Duration::from_nanos(u64::MAX)));
        for (seconds, text) in [(0, "0:00"), (6, "0:06"), (278, "4:38"), (3723, "1:02:03")] {
            assert_eq!(clock_time(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn without_a_terminal_lines_are_written_only_if_wanted() {
        // Standard error of tests may be a terminal, where lines are drawn in any case.
        let mut line = ProgressLine { terminal: false, start: Instant::now(), pause: None, drawn: None };
        line.draw(|_| unreachable!("nobody wants it"));
        line.draw_now(|_| unreachable!("nobody wants it"));
        line.pause = Some(Duration::MAX);
        line.draw(|_| unreachable!("the pause is not over"));
        line.pause = Some(Duration::ZERO);
        let mut drawn = 0;
        for _ in 0..2 {
            line.draw(|_| {
                drawn += 1;
                String::from("working")
            });
        }
        assert_eq!(drawn, 2);
    }

    #[test]
    fn a_line_fits_the_window() {
        let line = "0123456789".repeat(10);
        for (columns, left) in [(0, 79), (1, 1), (2, 1), (3, 2), (30, 29), (100, 99), (101, 100), (u16::MAX, 100)] {
            assert_eq!(cut(&line, columns), &line[..left], "{columns} columns");
        }
        assert_eq!((cut("", 1), cut("äöü", 3)), ("", "äö"));
    }
}
