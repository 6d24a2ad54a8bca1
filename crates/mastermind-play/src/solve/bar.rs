//! How far long work is, on standard error.

use std::{
    io::{self, IsTerminal, Write},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use cmdkit::{fit_stderr, progress_bar};
use mastermind::solver::Progress;

/// Work that is done before this shows nothing.
const QUIET: Duration = Duration::from_millis(700);
/// The least time between two pictures.
const PAUSE: Duration = Duration::from_millis(200);
/// Columns of the bar.
const WIDTH: usize = 30;

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
        // A standard error that takes nothing is no reason to stop.
        let _ = io::stderr().write_all(format!("\r{}\x1b[K", fit_stderr(&line)).as_bytes());
    }
}

fn found(found: u64, codes: u64, seconds: u64) -> String {
    format!("{} {found} of {codes} codes, {seconds} s", progress_bar(found, codes, WIDTH))
}

fn searched(progress: &Progress, seconds: u64) -> String {
    let Progress { nodes, openings_done: done, openings, best } = *progress;
    let best = best.map_or(String::new(), |best| format!(", best total {best}"));
    let bar = progress_bar(done as u64, openings as u64, WIDTH);
    // Between the last first guess and the end there is no further one.
    let current = (done + 1).min(openings);
    format!("{bar} first guess {current} of {openings}, {nodes} nodes{best}, {seconds} s")
}

#[cfg(test)]
mod tests {
    use super::*;

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
