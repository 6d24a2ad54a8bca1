//! The progress of long work, on standard error.

use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

use cmdkit::{Progress, progress_bar};
use mastermind::solver;

/// Work that is done before this shows nothing.
const QUIET: Duration = Duration::from_millis(700);
/// Columns of the bar.
const WIDTH: usize = 30;

/// A progress line that several threads may draw. Shown on terminals only.
pub(super) struct Bar(Mutex<Progress>);

impl Bar {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Progress::new().quiet_for(QUIET)))
    }

    pub(super) fn found(&self, codes_found: u64, codes: u64) {
        self.draw(|seconds| found(codes_found, codes, seconds));
    }

    pub(super) fn searched(&self, progress: &solver::Progress) {
        self.draw(|seconds| searched(progress, seconds));
    }

    pub(super) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn draw(&self, line: impl FnOnce(u64) -> String) {
        // If another thread is drawing, this update is skipped.
        if let Ok(mut progress) = self.0.try_lock() {
            progress.draw(|elapsed| line(elapsed.as_secs()));
        }
    }
}

fn found(found: u64, codes: u64, seconds: u64) -> String {
    format!("{} {found} of {codes} codes, {seconds} s", progress_bar(found, codes, WIDTH))
}

fn searched(progress: &solver::Progress, seconds: u64) -> String {
    let solver::Progress { nodes, openings_done: done, openings, best } = *progress;
    let best = best.map_or(String::new(), |best| format!(", best total {best}"));
    let bar = progress_bar(done as u64, openings as u64, WIDTH);
    // After the last first guess its number is shown, and not the next one.
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
        let progress = solver::Progress { nodes: 12, openings_done: 1, openings: 5, best: Some(5630) };
        assert_eq!(
            searched(&progress, 4),
            "[######........................] first guess 2 of 5, 12 nodes, best total 5630, 4 s"
        );
        let done = solver::Progress { nodes: 99, openings_done: 5, openings: 5, best: None };
        assert_eq!(searched(&done, 5), format!("[{}] first guess 5 of 5, 99 nodes, 5 s", "#".repeat(30)));
    }
}
