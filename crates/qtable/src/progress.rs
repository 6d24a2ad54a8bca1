//! The progress of work that is counted in rounds.

use std::{fmt::Write as _, time::Duration};

use cmdkit::{Progress, clock_time, progress_bar, time_left};

/// Columns of the bar.
const BAR: usize = 20;

/// The progress of so many rounds, shown on standard error.
#[derive(Debug)]
pub(crate) struct RoundsProgress {
    all: u64,
    progress: Progress,
}

impl RoundsProgress {
    /// Work of `all` rounds. Shown on a terminal, and elsewhere if that is `wanted`.
    pub(crate) fn new(all: u64, wanted: bool) -> Self {
        Self { all, progress: Progress::new().always(wanted) }
    }

    /// Updates the number of finished rounds. `more` follows in the line, and is only called when the line is drawn.
    pub(crate) fn reach(&mut self, rounds: u64, more: impl FnOnce() -> String) {
        let all = self.all;
        let line = |elapsed| line(rounds, all, elapsed, &more());
        if rounds == all { self.progress.draw_last(line) } else { self.progress.draw(line) }
    }

    /// Whether the progress is drawn over and over on a terminal.
    pub(crate) const fn is_redrawn(&self) -> bool {
        self.progress.is_redrawn()
    }

    /// Leaves the last line on the screen, so that other output starts below it.
    pub(crate) fn end(&mut self) {
        self.progress.end();
    }

    /// Rounds a second since the start.
    #[expect(clippy::cast_precision_loss, reason = "a rate for people to read")]
    pub(crate) fn rate(&self, rounds: u64) -> f64 {
        rounds as f64 / self.progress.elapsed().as_secs_f64().max(1e-9)
    }
}

/// A count with a unit that keeps it short.
#[expect(clippy::cast_precision_loss, reason = "a number for people to read")]
pub(crate) fn short(count: u64) -> String {
    match count {
        0..=9_999 => count.to_string(),
        10_000..=999_999 => format!("{:.1} k", count as f64 / 1e3),
        1_000_000..=999_999_999 => format!("{:.1} M", count as f64 / 1e6),
        _ => format!("{:.2} G", count as f64 / 1e9),
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers for people to read, all of them positive and finite"
)]
fn line(rounds: u64, all: u64, elapsed: Duration, more: &str) -> String {
    let part = rounds.min(all) as f64 / all.max(1) as f64;
    let seconds = elapsed.as_secs_f64();
    let rate = rounds as f64 / seconds.max(1e-9);
    let mut line = format!(
        "{} {:>3.0} %  {} of {} rounds  {}/s",
        progress_bar(rounds, all, BAR),
        100.0 * part,
        short(rounds),
        short(all),
        short(rate as u64),
    );
    if let Some(left) = time_left(rounds, all, elapsed) {
        // Writing to a string cannot fail.
        let _ = write!(line, "  {} left", clock_time(left));
    }
    line + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_how_fast_and_how_long() {
        assert_eq!(
            line(25_000_000, 100_000_000, Duration::from_secs(2), "  exact -0.051600"),
            "[#####...............]  25 %  25.0 M of 100.0 M rounds  12.5 M/s  0:06 left  exact -0.051600"
        );
        assert_eq!(line(0, 5_000, Duration::ZERO, ""), "[....................]   0 %  0 of 5000 rounds  0/s");
        assert_eq!(line(9, 9, Duration::from_secs(3), ""), "[####################] 100 %  9 of 9 rounds  3/s");
    }
}
