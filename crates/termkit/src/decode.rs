//! Decodes the bytes of a terminal as keys and mouse events.
//!
//! Implemented here because crossterm's reader does not detect that the terminal has hung up; see `events.rs`.
//!
//! | bytes | key |
//! |-------|-----|
//! | one byte of ASCII | that byte; CR is Enter, `\n`; some control bytes have a meaning of their own |
//! | `ESC [` parameters final | cursor pad and function keys; a second parameter of 2 is Shift |
//! | `ESC [ <` button `;` column `;` row, then `M` or `m` | mouse button pressed or released; columns and rows count from 1 |
//! | `ESC [ M` and three bytes | the same from terminals without mode 1006: button, column and row, each plus 32 |
//! | `ESC [ [` letter | function keys of the Linux console |
//! | `ESC O` final | cursor pad, function keys, number pad in application mode |
//! | `ESC` and any other byte | a key with Alt, which is ignored |
//! | `ESC` without further bytes for a while | Esc |
//!
//! Unknown sequences and bytes outside ASCII are skipped, so that no part of them is decoded as a key.
//!
//! Source: ECMA-48, and the control sequences of xterm and rxvt.

use std::time::Duration;

use crate::keys::{Event, Gesture, Key, Mouse, Pad};

const ESC: u8 = 0x1b;
const ESC_KEY: Event = Event::Key(Key::Byte(ESC));
/// How long to wait before decoding an ESC as the key.
const LONE_ESC: Duration = Duration::from_millis(50);
/// How long to wait for the rest of a longer sequence.
const SEQUENCE: Duration = Duration::from_millis(500);
/// A sequence is abandoned at this length. All known ones are shorter.
const LONGEST: usize = 32;

/// Bytes may be split anywhere.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    // The incomplete sequence: empty, or starting with ESC.
    pending: Vec<u8>,
}

enum Step {
    More,
    Done(Option<Event>),
    // The sequence ends before this byte, which is decoded separately.
    Before(Option<Event>),
}

impl Decoder {
    /// How long to wait for the rest of an incomplete sequence. A slow line may delay it, but Esc should act
    /// immediately.
    pub(crate) fn patience(&self) -> Option<Duration> {
        match &*self.pending {
            [] => None,
            [ESC] => Some(LONE_ESC),
            _ => Some(SEQUENCE),
        }
    }

    pub(crate) fn timeout(&mut self) -> Option<Event> {
        let pending = std::mem::take(&mut self.pending);
        (pending == [ESC]).then_some(ESC_KEY)
    }

    /// Returns two events if the byte shows that an earlier ESC was the key itself.
    pub(crate) fn byte(&mut self, byte: u8) -> [Option<Event>; 2] {
        if self.pending.is_empty() {
            return [self.fresh(byte), None];
        }
        match self.step(byte) {
            Step::More => {
                self.pending.push(byte);
                if self.pending.len() > LONGEST {
                    self.pending.clear();
                }
                [None, None]
            }
            Step::Done(event) => {
                self.pending.clear();
                [event, None]
            }
            Step::Before(event) => {
                self.pending.clear();
                [event, self.fresh(byte)]
            }
        }
    }

    fn fresh(&mut self, byte: u8) -> Option<Event> {
        if byte == ESC {
            self.pending.push(byte);
            return None;
        }
        Key::from_byte(byte).map(Event::Key)
    }

    fn step(&self, byte: u8) -> Step {
        // Of two ESC, the first is the key, and the second may start a sequence.
        if byte == ESC {
            return Step::Before((self.pending == [ESC]).then_some(ESC_KEY));
        }
        match self.pending.get(1..).unwrap_or_default() {
            [] if matches!(byte, b'[' | b'O') => Step::More,
            [] => Step::Done(None),
            b"[" if byte == b'M' => Step::More,
            // Some terminals send 0 for a position beyond the range of a byte.
            [b'[', b'M', rest @ ..] if byte == 0 || byte >= b' ' => match rest {
                &[button, column] => Step::Done(old_mouse(button, column, byte)),
                _ => Step::More,
            },
            // A control byte interrupts the sequence and is a key.
            _ if byte < b' ' => Step::Before(None),
            b"[" if byte == b'[' => Step::More,
            b"[[" => Step::Done(matches!(byte, b'A'..=b'E').then(|| Event::Key(Key::Function(byte - b'A' + 1)))),
            [b'[', b'<', parameters @ ..] if !matches!(byte, b' '..=b'?') => Step::Done(mouse(parameters, byte)),
            [b'[', parameters @ ..] => match byte {
                // With Shift, rxvt ends Home and other keys in a dollar sign, which ECMA-48 does not allow.
                b'$' if !parameters.is_empty() => Step::Done(control(parameters, byte).map(Event::Key)),
                b' '..=b'?' => Step::More,
                _ => Step::Done(control(parameters, byte).map(Event::Key)),
            },
            [_, parameters @ ..] => match byte {
                b'0'..=b'9' | b';' => Step::More,
                _ => Step::Done(single(parameters, byte).map(Event::Key)),
            },
        }
    }
}

// Xterm's parameter is 1 plus 1 for Shift, 2 for Alt, 4 for Ctrl and 8 for Meta. With Alt or Meta there is no key.
fn shift_of(parameter: u8) -> Option<bool> {
    let bits = parameter.saturating_sub(1);
    (bits & (2 | 8) == 0).then_some(bits & 1 != 0)
}

fn on_pad(key: Pad, shift: Option<bool>) -> Option<Key> {
    Some(Key::Pad { key, shift: shift? })
}

// ESC [ parameters end
fn control(parameters: &[u8], end: u8) -> Option<Key> {
    let mut numbers = parameters.split(|&byte| byte == b';').map(number);
    let (first, second) = (numbers.next().flatten(), numbers.next().flatten());
    let shift = shift_of(second.unwrap_or(1));
    match end {
        b'A'..=b'D' | b'F' | b'H' => on_pad(cursor(end)?, shift),
        b'a'..=b'd' => on_pad(cursor(end.to_ascii_uppercase())?, Some(true)),
        b'~' | b'$' => {
            let shift = if end == b'$' { Some(true) } else { shift };
            match first? {
                1 | 7 => on_pad(Pad::Home, shift),
                4 | 8 => on_pad(Pad::End, shift),
                5 => on_pad(Pad::PageUp, shift),
                6 => on_pad(Pad::PageDown, shift),
                code @ 11..=15 => Some(Key::Function(code - 10)),
                _ => None,
            }
        }
        // With another first parameter, `R` ends a report of the cursor's position.
        b'P'..=b'S' if first.is_none_or(|first| first == 1) => Some(Key::Function(end - b'P' + 1)),
        _ => None,
    }
}

// ESC [ < button ; column ; row end
fn mouse(parameters: &[u8], end: u8) -> Option<Event> {
    let mut numbers = parameters.split(|&byte| byte == b';').map(number::<u16>);
    let (button, column, row) = (numbers.next()??, numbers.next()??, numbers.next()??);
    if end == b'M' { gesture(button, column, row) } else { None }
}

// ESC [ M button column row; a release has its own button number
fn old_mouse(button: u8, column: u8, row: u8) -> Option<Event> {
    let number = |byte: u8| byte.checked_sub(32).map(u16::from);
    gesture(number(button)?, number(column)?, number(row)?)
}

// The button includes 4 for Shift, 8 for Alt, 16 for Ctrl and 32 for a movement.
fn gesture(button: u16, column: u16, row: u16) -> Option<Event> {
    let gesture = match button & !(4 | 8 | 16) {
        0 => Gesture::Press,
        64 => Gesture::WheelUp,
        65 => Gesture::WheelDown,
        _ => return None,
    };
    Some(Event::Mouse(Mouse { gesture, column: column.checked_sub(1)?, row: row.checked_sub(1)? }))
}

// ESC O end
fn single(parameters: &[u8], end: u8) -> Option<Key> {
    let modifier = parameters.rsplit(|&byte| byte == b';').next().and_then(number);
    let shift = shift_of(modifier.unwrap_or(1));
    match end {
        b'A'..=b'D' | b'F' | b'H' => on_pad(cursor(end)?, shift),
        b'P'..=b'S' => Some(Key::Function(end - b'P' + 1)),
        b'M' => Some(Key::Byte(b'\n')),
        digit @ b'p'..=b'y' => match Pad::on_number_pad(digit - b'p') {
            Some(key) => on_pad(key, shift),
            None => Some(Key::Byte(digit - b'p' + b'0')),
        },
        _ => None,
    }
}

const fn cursor(end: u8) -> Option<Pad> {
    Some(match end {
        b'A' => Pad::Up,
        b'B' => Pad::Down,
        b'C' => Pad::Right,
        b'D' => Pad::Left,
        b'F' => Pad::End,
        b'H' => Pad::Home,
        _ => return None,
    })
}

fn number<T: std::str::FromStr>(digits: &[u8]) -> Option<T> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(bytes: &[u8]) -> Vec<Key> {
        let mut decoder = Decoder::default();
        let mut events: Vec<Event> = bytes.iter().flat_map(|&byte| decoder.byte(byte)).flatten().collect();
        events.extend(decoder.timeout());
        let key = |event| if let Event::Key(typed) = event { typed } else { panic!("{event:?} is no key") };
        events.into_iter().map(key).collect()
    }

    fn moused(bytes: &[u8]) -> Vec<Event> {
        let mut decoder = Decoder::default();
        bytes.iter().flat_map(|&byte| decoder.byte(byte)).flatten().collect()
    }

    fn pad(key: Pad, shift: bool) -> Vec<Key> {
        vec![Key::Pad { key, shift }]
    }

    #[test]
    fn single_bytes_are_keys() {
        assert_eq!(typed(b"hQ"), [Key::Byte(b'h'), Key::Byte(b'Q')]);
        assert_eq!(typed(b"\r\t\x7f\x01\0"), [b'\n', b'\t', 0x7f, 1, 0].map(Key::Byte));
        assert_eq!(typed(b"\x03\x04\x0c\x1a"), [Key::Interrupt, Key::EndOfInput, Key::Redraw, Key::Suspend]);
    }

    #[test]
    fn rest_of_an_arrow_key_has_half_a_second() {
        for (start, rest) in [(&b"\x1b["[..], b"B"), (b"\x1bO", b"B")] {
            let mut decoder = Decoder::default();
            assert!(start.iter().flat_map(|&byte| decoder.byte(byte)).flatten().next().is_none());
            assert_eq!(decoder.patience(), Some(Duration::from_millis(500)));
            let down = Event::Key(Key::Pad { key: Pad::Down, shift: false });
            assert_eq!(decoder.byte(rest[0]), [Some(down), None]);
        }
    }

    #[test]
    fn cursor_keys_of_several_terminals_are_decoded() {
        let keys = [
            (Pad::Left, &[&b"\x1b[D"[..], b"\x1bOD", b"\x1bOt"][..], &[&b"\x1b[1;2D"[..], b"\x1b[d", b"\x1bO2D"][..]),
            (Pad::Right, &[b"\x1b[C", b"\x1bOC", b"\x1bOv"], &[b"\x1b[1;2C", b"\x1b[c"]),
            (Pad::Down, &[b"\x1b[B", b"\x1bOB", b"\x1bOr", b"\x1b[1;5B"], &[b"\x1b[1;2B", b"\x1b[1;6B"]),
            (Pad::Up, &[b"\x1b[A", b"\x1bOA", b"\x1bOx", b"\x1b[1;1A"], &[b"\x1b[1;2A", b"\x1b[a"]),
            (Pad::Home, &[b"\x1b[H", b"\x1bOH", b"\x1b[1~", b"\x1b[7~", b"\x1bOw"], &[b"\x1b[1;2H", b"\x1b[7$"]),
            (Pad::PageUp, &[b"\x1b[5~", b"\x1bOy"], &[b"\x1b[5;2~", b"\x1b[5$"]),
            (Pad::End, &[b"\x1b[F", b"\x1bOF", b"\x1b[4~", b"\x1b[8~", b"\x1bOq"], &[b"\x1b[1;2F", b"\x1b[8$"]),
            (Pad::PageDown, &[b"\x1b[6~", b"\x1bOs"], &[b"\x1b[6;2~", b"\x1b[6$"]),
        ];
        for (key, plain, shifted) in keys {
            for bytes in plain {
                assert_eq!(typed(bytes), pad(key, false), "{}", bytes.escape_ascii());
            }
            for bytes in shifted {
                assert_eq!(typed(bytes), pad(key, true), "{}", bytes.escape_ascii());
            }
        }
    }

    #[test]
    fn function_and_number_pad_keys_are_decoded() {
        for bytes in [&b"\x1bOP"[..], b"\x1b[11~", b"\x1b[[A", b"\x1b[P", b"\x1b[1;2P"] {
            assert_eq!(typed(bytes), [Key::Function(1)], "{}", bytes.escape_ascii());
        }
        assert_eq!(typed(b"\x1bOu\x1bOM"), [Key::Byte(b'5'), Key::Byte(b'\n')]);
    }

    #[test]
    fn unknown_sequences_are_skipped() {
        for bytes in [
            &b"\x1b[3~"[..],
            b"\x1b[24~",
            b"\x1bh",
            b"\x1b[1;3D",
            b"\x1b[<0;3;4m",
            b"\x1b[2;5R",
            b"\x1b[I",
            b"\xc3\xa9",
        ] {
            assert_eq!(typed(bytes), [], "{}", bytes.escape_ascii());
            assert_eq!(typed(&[bytes, b"j"].concat()), [Key::Byte(b'j')], "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn lone_esc_is_a_key() {
        let esc = Key::Byte(ESC);
        assert_eq!(typed(b"\x1b"), [esc]);
        assert_eq!(typed(b"\x1b\x1b"), [esc, esc]);
        assert_eq!(typed(b"\x1b\x1b[D"), [esc, Key::Pad { key: Pad::Left, shift: false }]);
        let mut decoder = Decoder::default();
        decoder.byte(ESC);
        assert_eq!(decoder.patience(), Some(LONE_ESC));
        assert_eq!(decoder.timeout(), Some(Event::Key(esc)));
        assert_eq!(decoder.patience(), None);
    }

    #[test]
    fn mouse_presses_and_wheel_are_decoded() {
        let mouse = |gesture, column, row| vec![Event::Mouse(Mouse { gesture, column, row })];
        assert_eq!(moused(b"\x1b[<0;1;1M\x1b[<0;1;1m"), mouse(Gesture::Press, 0, 0));
        assert_eq!(moused(b"\x1b[<4;300;70M"), mouse(Gesture::Press, 299, 69), "with Shift, far to the right");
        assert_eq!(moused(b"\x1b[<64;3;4M"), mouse(Gesture::WheelUp, 2, 3));
        assert_eq!(moused(b"\x1b[<65;3;4M"), mouse(Gesture::WheelDown, 2, 3));
        // Other buttons, movements, missing parameters, and positions that count from 0 or are out of range.
        for nothing in
            ["2;3;4M", "1;3;4M", "32;3;4M", "35;3;4M", "0;3M", "M", "0;0;4M", "0;3;0M", "0;99999;1M", "0;3;4~"]
        {
            assert_eq!(moused(format!("\x1b[<{nothing}").as_bytes()), [], "{nothing}");
        }
    }

    #[test]
    fn legacy_mouse_reports_are_no_keys() {
        let mouse = |gesture, column, row| Event::Mouse(Mouse { gesture, column, row });
        let key = Event::Key(Key::Byte(b'j'));
        assert_eq!(moused(b"\x1b[M !!j"), [mouse(Gesture::Press, 0, 0), key]);
        assert_eq!(moused(b"\x1b[M$\xff*j"), [mouse(Gesture::Press, 222, 9), key], "with Shift, far to the right");
        assert_eq!(moused(b"\x1b[M`Q2j"), [mouse(Gesture::WheelUp, 48, 17), key]);
        assert_eq!(moused(b"\x1b[MaQ2j"), [mouse(Gesture::WheelDown, 48, 17), key]);
        // A release, another button, and a position out of range.
        for nothing in [b"\x1b[M#Q2j", b"\x1b[M\"Q2j", b"\x1b[M \x00\x00j"] {
            assert_eq!(moused(nothing), [key], "{}", nothing.escape_ascii());
        }
        assert_eq!(typed(b"\x1b[M \x03"), [Key::Interrupt], "cut off");
    }

    #[test]
    fn incomplete_sequence_loses_no_key() {
        assert_eq!(typed(b"\x1b["), []);
        assert_eq!(typed(b"\x1b[1;\x1b[D"), pad(Pad::Left, false));
        assert_eq!(typed(b"\x1b[1\x03"), [Key::Interrupt]);
        let endless = [b"\x1b[".as_slice(), &[b'1'; 100]].concat();
        assert!(typed(&endless).len() < 100, "what is too long is given up");
        assert_eq!(typed(b"\x1b[99999999999A"), pad(Pad::Up, false));
    }
}
