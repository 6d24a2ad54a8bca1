//! How far long work is, on standard error.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use mastermind::solver::Progress;

/// Work that is done before this shows nothing.
const QUIET: Duration = Duration::from_millis(700);
/// The least time between two pictures.
const PAUSE: Duration = Duration::from_millis(200);
/// Columns of the bar.
const WIDTH: usize = 30;
/// Columns of a window that does not say how many it has.
const USUAL: u16 = 80;

/// A line of standard error that is drawn over and over. If that is no terminal there is none.
pub(super) struct Bar {
    begun: Instant,
    // When something was last drawn; nothing yet if never.
    drawn: Mutex<Option<Instant>>,
    shown: bool,
}

impl Bar {
    pub(super) fn new(begun: Instant) -> Self {
        Self { begun, drawn: Mutex::new(None), shown: io::stderr().is_terminal() }
    }

    /// So many codes have been found.
    pub(super) fn found(&self, codes_found: u64, codes: u64) {
        self.draw(|seconds| found(codes_found, codes, seconds));
    }

    /// The search is so far.
    pub(super) fn searched(&self, progress: &Progress) {
        self.draw(|seconds| searched(progress, seconds));
    }

    /// Makes the line empty again.
    pub(super) fn clear(&self) {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        if drawn.take().is_some() {
            let _ = io::stderr().write_all(b"\r\x1b[K");
        }
    }

    fn draw(&self, line: impl FnOnce(u64) -> String) {
        // Whoever finds it taken has nothing newer to show.
        let (true, Ok(mut drawn)) = (self.shown, self.drawn.try_lock()) else {
            return;
        };
        let now = Instant::now();
        if now < self.begun + QUIET || drawn.is_some_and(|drawn| now < drawn + PAUSE) {
            return;
        }
        *drawn = Some(now);
        let line = line(now.duration_since(self.begun).as_secs());
        // The window may have another size by now.
        let line = cut(&line, columns());
        // A standard error that takes nothing is no reason to stop.
        let _ = io::stderr().write_all(format!("\r{line}\x1b[K").as_bytes());
    }
}

/// What of the line fits a window of so many columns. The last one stays free: a terminal that has just filled it may wrap,
/// or lose it to what makes the rest of the row empty. Of a window that does not say its size (0) the usual one is assumed.
fn cut(line: &str, columns: u16) -> &str {
    let columns = if columns == 0 { USUAL } else { columns };
    let most = usize::from(columns - 1).max(1);
    line.char_indices().nth(most).map_or(line, |(end, _)| &line[..end])
}

/// Columns of the terminal that standard error is, 0 if it does not say.
#[cfg(unix)]
fn columns() -> u16 {
    rustix::termios::tcgetwinsize(rustix::stdio::stderr()).map_or(0, |size| size.ws_col)
}

/// Columns of the terminal, 0 if it does not say.
#[cfg(not(unix))]
fn columns() -> u16 {
    ratatui::crossterm::terminal::size().map_or(0, |(columns, _)| columns)
}

/// A bar of so much done of a whole.
fn bar(done: u64, whole: u64) -> String {
    let full = usize::try_from(u128::from(done) * WIDTH as u128 / u128::from(whole.max(1))).unwrap_or(WIDTH).min(WIDTH);
    format!("[{}{}]", "#".repeat(full), ".".repeat(WIDTH - full))
}

fn found(found: u64, codes: u64, seconds: u64) -> String {
    format!("{} {found} of {codes} codes, {seconds} s", bar(found, codes))
}

fn searched(progress: &Progress, seconds: u64) -> String {
    let Progress { nodes, openings_done: done, openings, best } = *progress;
    let best = best.map_or(String::new(), |best| format!(", best total {best}"));
    let bar = bar(done as u64, openings as u64);
    // Between the last first guess and the end there is no further one.
    let current = (done + 1).min(openings);
    format!("{bar} first guess {current} of {openings}, {nodes} nodes{best}, {seconds} s")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_fits_the_window() {
        let line = "0123456789".repeat(10);
        for (columns, left) in [(0, 79), (1, 1), (2, 1), (3, 2), (30, 29), (100, 99), (101, 100), (u16::MAX, 100)] {
            assert_eq!(cut(&line, columns), &line[..left], "{columns} columns");
        }
        assert_eq!((cut("", 1), cut("äöü", 3)), ("", "äö"));
    }

    #[test]
    fn lines_say_how_far_it_is() {
        assert_eq!(found(50, 100, 3), "[###############...............] 50 of 100 codes, 3 s");
        assert_eq!(found(100, 100, 3), format!("[{}] 100 of 100 codes, 3 s", "#".repeat(30)));
        let progress = Progress { nodes: 12, openings_done: 1, openings: 5, best: Some(5630) };
        assert_eq!(
            searched(&progress, 4),
            "[######........................] first guess 2 of 5, 12 nodes, best total 5630, 4 s"
        );
        let done = Progress { nodes: 99, openings_done: 5, openings: 5, best: None };
        assert_eq!(searched(&done, 5), format!("[{}] first guess 5 of 5, 99 nodes, 5 s", "#".repeat(30)));
    }
}
