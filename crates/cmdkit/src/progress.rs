//! Parts of a progress line on standard error, which is redrawn while a computation runs.

use std::io;

use terminal_size::{Width, terminal_size_of};

/// Columns of a window whose size is unknown.
const USUAL: u16 = 80;

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
    fn a_line_fits_the_window() {
        let line = "0123456789".repeat(10);
        for (columns, left) in [(0, 79), (1, 1), (2, 1), (3, 2), (30, 29), (100, 99), (101, 100), (u16::MAX, 100)] {
            assert_eq!(cut(&line, columns), &line[..left], "{columns} columns");
        }
        assert_eq!((cut("", 1), cut("äöü", 3)), ("", "äö"));
    }
}
