use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

/// Quotes the name on one line, with control characters escaped.
pub fn file_name(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().escape_debug())
}

/// Reads at most `most + 1` bytes, so that the caller can detect a file that is too large.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![];
    let most = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_on_one_line() {
        assert_eq!(file_name(Path::new("a\nb")), "'a\\nb'");
    }
}
