//! Text in lines of a certain width.

use unicode_width::UnicodeWidthStr;

/// Cuts `text` at blanks into lines of at most `width` columns. A longer word stays whole. A line that fits keeps its blanks.
///
/// ```
/// assert_eq!(termkit::wrap("one and two", 7), ["one and", "two"]);
/// ```
pub fn wrap(text: &str, width: usize) -> Vec<&str> {
    wrap_after(text, width, width)
}

/// The same where the first line has only `first` columns.
pub(crate) fn wrap_after(text: &str, first: usize, width: usize) -> Vec<&str> {
    let (mut lines, mut rest, mut room) = (vec![], text, first);
    while rest.width() > room {
        let mut blanks = rest.match_indices(' ').map(|(at, _)| at);
        let fits = blanks.clone().take_while(|&at| rest[..at].width() <= room).last();
        let Some(cut) = fits.or_else(|| blanks.next()) else { break };
        lines.push(&rest[..cut]);
        (rest, room) = (&rest[cut + 1..], width);
    }
    lines.push(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_blanks_by_columns() {
        assert_eq!(wrap("", 5), [""]);
        assert_eq!(wrap("  1  2", 6), ["  1  2"]);
        assert_eq!(wrap("a longest word", 4), ["a", "longest", "word"]);
        assert_eq!(wrap("●●●● ○○○○ ····", 9), ["●●●● ○○○○", "····"]);
        assert_eq!(wrap("東京 東京", 5), ["東京", "東京"]);
        assert_eq!(wrap_after("one two three", 4, 20), ["one", "two three"]);
    }
}
