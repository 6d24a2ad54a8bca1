//! Counts as bars of text.

use alloc::string::String;
use core::fmt::{Display, Write};

/// Formats a line for each count: its label, a bar of up to `width` columns (at least one unless the count is 0) and
/// the count.
pub fn histogram(counts: &[(impl Display, u64)], width: usize) -> String {
    let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let mut text = String::new();
    for (label, count) in counts {
        let columns = u128::from(*count) * width as u128 / u128::from(most);
        let columns = usize::try_from(columns).unwrap_or(width).max(usize::from(*count > 0));
        let _ = write!(text, "{label:>4} ");
        text.extend(core::iter::repeat_n('█', columns));
        let _ = writeln!(text, "{}{count}", if columns > 0 { " " } else { "" });
    }
    text
}
