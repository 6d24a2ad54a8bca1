//! Transcripts: inputs of a room, each followed by the lines of its outputs. Tests of rules include this file by its
//! path: a dependency on testkit would compile the crates above the rules.

use std::fmt::Write;

/// The table has a method `check`.
#[allow(unused_macros, reason = "some crates only call `check`")]
macro_rules! transcripts {
    ($($(#[$meta:meta])* $name:ident: $($table:expr => $transcript:expr),+;)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            $($table.check($transcript);)+
        }
    )*};
}

/// `play` receives each line, and returns the lines of the outputs of an input. Lines that begin with `#` are comments.
#[track_caller]
pub(crate) fn check(transcript: &str, mut play: impl FnMut(&str) -> Option<Vec<String>>) {
    let lines = transcript.lines().map(str::trim);
    let expected: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with("# ")).collect();
    let mut got = String::new();
    for line in &expected {
        let Some(outputs) = play(line) else { continue };
        let _ = writeln!(got, "{line}");
        for output in outputs {
            let _ = writeln!(got, "{output}");
        }
    }
    let expected = expected.join("\n") + "\n";
    assert!(got == expected, "\n--- expected\n{expected}\n--- got\n{got}");
}
