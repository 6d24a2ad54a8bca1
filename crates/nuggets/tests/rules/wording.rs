//! The form of datagrams in transcripts.

/// Without the last newline.
pub(crate) fn rows(display: &[u8]) -> String {
    let text = display.strip_prefix(b"DISPLAY\n").and_then(|rows| rows.strip_suffix(b"\n")).expect("a DISPLAY");
    String::from_utf8_lossy(text).into_owned()
}

pub(crate) fn shown(frame: &[u8]) -> String {
    if !frame.starts_with(b"DISPLAY\n") {
        return escaped(frame);
    }
    let rows = rows(frame);
    if rows.contains('\n') {
        rows.lines().fold("DISPLAY".to_owned(), |text, row| text + "\n[" + row + "]")
    } else {
        format!("DISPLAY [{rows}]")
    }
}

pub(crate) fn escaped(bytes: &[u8]) -> String {
    let mut text: String = bytes
        .iter()
        .map(|&byte| match byte {
            b'\n' => "\\n".to_owned(),
            b'\\' => "\\\\".to_owned(),
            b' '..=b'~' => char::from(byte).to_string(),
            _ => format!("\\x{byte:02x}"),
        })
        .collect();
    if text.ends_with(' ') {
        text.truncate(text.len() - 1);
        text += "\\x20";
    }
    text
}

pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = vec![];
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, byte == b'\\') {
            (_, false) => byte,
            (_, true) => match rest.next() {
                Some(b'n') => b'\n',
                Some(b'\\') => b'\\',
                Some(b'x') => {
                    let digits: String = rest.by_ref().take(2).map(char::from).collect();
                    u8::from_str_radix(&digits, 16).expect("two hexadecimal digits")
                }
                other => panic!("an escape that nobody knows: {other:?}"),
            },
        });
    }
    bytes
}
