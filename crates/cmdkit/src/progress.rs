use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

use terminal_size::{Height, Width, terminal_size_of};

use crate::logs::{self, erase_rows, set_progress_rows};

const ON_TERMINAL: Duration = Duration::from_millis(100);
/// The interval between lines elsewhere, where each stays visible.
const ELSEWHERE: Duration = Duration::from_secs(5);

/// The columns of a window of unknown size.
const USUAL: u16 = 80;
const USUAL_ROWS: u16 = 24;

/// The progress of long work, as one line of standard error that is redrawn in place. Shown only on a terminal, unless
/// [`Progress::always`] requests it.
#[derive(Debug)]
pub struct Progress {
    start: Instant,
    quiet: Duration,
    drawn: Option<Instant>,
    shown: bool,
    terminal: bool,
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}

impl Progress {
    pub fn new() -> Self {
        let terminal = io::stderr().is_terminal();
        Self { start: Instant::now(), quiet: Duration::ZERO, drawn: None, shown: terminal, terminal }
    }

    /// With `always`, writes a line every few seconds if standard error is not a terminal.
    #[must_use]
    pub fn always(mut self, always: bool) -> Self {
        self.shown |= always;
        self
    }

    /// Work that takes less than this shows no progress.
    #[must_use]
    pub fn quiet_for(mut self, quiet: Duration) -> Self {
        self.quiet = quiet;
        self
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    pub const fn is_redrawn(&self) -> bool {
        self.shown && self.terminal
    }

    /// On a terminal there may be several lines. A line that is too long is cut; one with escape sequences must fit.
    pub fn draw(&mut self, line: impl FnOnce(Duration) -> String) {
        let (pause, elapsed) = (if self.terminal { ON_TERMINAL } else { ELSEWHERE }, self.elapsed());
        if self.shown && elapsed >= self.quiet && self.drawn.is_none_or(|drawn| drawn.elapsed() >= pause) {
            self.draw_now(line(elapsed));
        }
    }

    pub fn draw_last(&mut self, line: impl FnOnce(Duration) -> String) {
        if self.shown && self.elapsed() >= self.quiet {
            self.draw_now(line(self.elapsed()));
        }
    }

    /// Leaves the last line on the screen, so that other output starts below it.
    pub fn end(&mut self) {
        if self.drawn.take().is_some() && self.terminal && set_progress_rows(0) > 0 {
            self.write("\n");
        }
    }

    pub fn clear(&mut self) {
        if self.drawn.take().is_some() && self.terminal {
            self.write(&erase_rows(set_progress_rows(0)));
        }
    }

    fn draw_now(&mut self, line: String) {
        self.drawn = Some(Instant::now());
        if !self.terminal {
            return self.write(&(line + "\n"));
        }
        // A longer line would wrap and leave a row behind each time.
        let columns = terminal_size_of(io::stderr()).map_or(0, |(Width(columns), _)| columns);
        let lines: Vec<&str> =
            line.lines().map(|line| if line.contains('\x1b') { line } else { cut(line, columns) }).collect();
        let up = set_progress_rows(lines.len().max(1)).saturating_sub(1);
        self.write(&format!("\r{}{}\x1b[J", "\x1b[A".repeat(up), lines.join("\x1b[K\r\n")));
    }

    fn write(&mut self, text: &str) {
        // Log lines that were printed before come first.
        logs::finish();
        self.shown &= io::stderr().write_all(text.as_bytes()).is_ok();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

/// Assumes the pace so far. `None` before the first piece of work is finished, and at the end.
pub fn time_left(done: u64, whole: u64, elapsed: Duration) -> Option<Duration> {
    if done == 0 || done >= whole {
        return None;
    }
    let nanos = elapsed.as_nanos().saturating_mul(u128::from(whole - done)) / u128::from(done);
    Some(Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)))
}

/// Hours, minutes and seconds: `0:06`, `4:38`, `1:02:03`.
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

const BAR: usize = 20;

/// A bar, the share, the rounds, their rate and the time left; without `all`, only the rounds and the rate.
///
/// ```
/// # use std::time::Duration;
/// let line = cmdkit::rounds_line(25_000, Some(100_000), Duration::from_secs(2), "  mean -0.2");
/// assert_eq!(line, "[#####...............]  25 %  25.0 k of 100.0 k rounds  12.5 k/s  0:06 left  mean -0.2");
/// assert_eq!(cmdkit::rounds_line(9, None, Duration::from_secs(3), ""), "9 rounds  3/s");
/// ```
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers for people to read, all of them positive and finite"
)]
pub fn rounds_line(rounds: u64, all: Option<u64>, elapsed: Duration, more: &str) -> String {
    let rate = short((rounds as f64 / elapsed.as_secs_f64().max(1e-9)) as u64);
    let Some(all) = all else { return format!("{} rounds  {rate}/s{more}", short(rounds)) };
    let percent = 100.0 * rounds.min(all) as f64 / all.max(1) as f64;
    let bar = progress_bar(rounds, all, BAR);
    let left = time_left(rounds, all, elapsed).map_or_else(String::new, |left| format!("  {} left", clock_time(left)));
    format!("{bar} {percent:>3.0} %  {} of {} rounds  {rate}/s{left}{more}", short(rounds), short(all))
}

#[expect(clippy::cast_precision_loss, reason = "a number for people to read")]
fn short(count: u64) -> String {
    match count {
        0..=9_999 => count.to_string(),
        10_000..=999_999 => format!("{:.1} k", count as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.2} G", count as f64 / 1e9),
    }
}

/// Columns and rows; 80 and 24 where they are unknown.
pub fn stdout_size() -> (u16, u16) {
    size(terminal_size_of(io::stdout()))
}

/// As [`stdout_size`], of the terminal at standard error.
pub fn stderr_size() -> (u16, u16) {
    size(terminal_size_of(io::stderr()))
}

fn size(found: Option<(Width, Height)>) -> (u16, u16) {
    match found {
        Some((Width(columns), Height(rows))) if columns > 0 && rows > 0 => (columns, rows),
        _ => (USUAL, USUAL_ROWS),
    }
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
    fn progress_bar_is_full_at_the_end() {
        assert_eq!(progress_bar(50, 100, 30), "[###############...............]");
        for done in [100, 101, u64::MAX] {
            assert_eq!(progress_bar(done, 100, 5), "[#####]");
        }
        assert_eq!(progress_bar(0, 0, 3), "[...]");
    }

    #[test]
    fn remaining_time_follows_from_progress() {
        let second = Duration::from_secs(1);
        assert_eq!(time_left(25, 100, second), Some(3 * second));
        assert_eq!([time_left(0, 9, second), time_left(9, 9, second), time_left(10, 9, second)], [None; 3]);
        assert_eq!(time_left(1, u64::MAX, 9_999 * second), Some(Duration::from_nanos(u64::MAX)));
        for (seconds, text) in [(0, "0:00"), (6, "0:06"), (278, "4:38"), (3723, "1:02:03")] {
            assert_eq!(clock_time(Duration::from_secs(seconds)), text);
        }
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
