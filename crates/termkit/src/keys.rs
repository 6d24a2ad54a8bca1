//! Keys, independent of how a terminal encodes them.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyEventState, KeyModifiers};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// An ASCII byte: letters, digits, punctuation, Enter (`\n`), Tab, Esc, Backspace (0x7f) and the control keys
    /// without a variant.
    Byte(u8),
    /// On the cursor pad or, without Num Lock, on the number pad.
    Pad {
        key: Pad,
        shift: bool,
    },
    Function(u8),
    Interrupt,
    EndOfInput,
    Redraw,
    Suspend,
}

/// The keys around the middle of a number pad, each with a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pad {
    /// The arrows are 4, 6, 2 and 8 on the number pad.
    Left,
    Right,
    Down,
    Up,
    /// Home, 7: up and left.
    Home,
    /// Page up, 9: up and right.
    PageUp,
    /// End, 1: down and left.
    End,
    /// Page down, 3: down and right.
    PageDown,
}

impl Key {
    /// Whether the key controls the program itself: leave, stop or redraw.
    pub const fn is_command(self) -> bool {
        matches!(self, Self::Interrupt | Self::Suspend | Self::Redraw)
    }

    pub const fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x03 => Self::Interrupt,
            0x04 => Self::EndOfInput,
            0x0c => Self::Redraw,
            0x1a => Self::Suspend,
            b'\r' => Self::Byte(b'\n'),
            0..=0x7f => Self::Byte(byte),
            _ => return None,
        })
    }

    /// `None` for ignored keys, such as a key with Alt, a letter outside ASCII, or a release.
    pub fn from_event(event: &KeyEvent) -> Option<Self> {
        if event.kind == KeyEventKind::Release {
            return None;
        }
        let modifiers = event.modifiers;
        if modifiers.intersects(KeyModifiers::ALT | KeyModifiers::META | KeyModifiers::SUPER | KeyModifiers::HYPER) {
            return None;
        }
        let shift = modifiers.contains(KeyModifiers::SHIFT);
        let pad = |key| Some(Self::Pad { key, shift });
        match event.code {
            KeyCode::Left => pad(Pad::Left),
            KeyCode::Right => pad(Pad::Right),
            KeyCode::Down => pad(Pad::Down),
            KeyCode::Up => pad(Pad::Up),
            KeyCode::Home => pad(Pad::Home),
            KeyCode::PageUp => pad(Pad::PageUp),
            KeyCode::End => pad(Pad::End),
            KeyCode::PageDown => pad(Pad::PageDown),
            KeyCode::F(number) => Some(Self::Function(number)),
            KeyCode::Enter => Some(Self::Byte(b'\n')),
            KeyCode::Tab => Some(Self::Byte(b'\t')),
            KeyCode::Esc => Some(Self::Byte(0x1b)),
            KeyCode::Backspace => Some(Self::Byte(0x7f)),
            KeyCode::Char(typed) if modifiers.contains(KeyModifiers::CONTROL) => control(typed),
            // Set only by terminals that distinguish the number pad from the digits.
            KeyCode::Char(digit) if event.state.contains(KeyEventState::KEYPAD) => {
                let number = digit.to_digit(10).and_then(|number| u8::try_from(number).ok());
                number.and_then(Pad::on_number_pad).map_or_else(|| ascii(digit), pad)
            }
            KeyCode::Char(typed) => ascii(typed),
            _ => None,
        }
    }
}

impl Pad {
    /// `None` for 5, which has no direction.
    pub const fn on_number_pad(digit: u8) -> Option<Self> {
        Some(match digit {
            1 => Self::End,
            2 => Self::Down,
            3 => Self::PageDown,
            4 => Self::Left,
            6 => Self::Right,
            7 => Self::Home,
            8 => Self::Up,
            9 => Self::PageUp,
            _ => return None,
        })
    }
}

fn ascii(typed: char) -> Option<Key> {
    u8::try_from(typed).ok().filter(u8::is_ascii).map(Key::Byte)
}

fn control(typed: char) -> Option<Key> {
    let byte = match u8::try_from(typed.to_ascii_lowercase()).ok()? {
        letter @ b'a'..=b'z' => letter - b'a' + 1,
        // The byte 0x1c is Ctrl-4 as well as Ctrl-\, and so on.
        digit @ b'4'..=b'7' => digit - b'4' + 0x1c,
        b' ' => 0,
        _ => return None,
    };
    Key::from_byte(byte)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    Key(Key),
    /// Only if the screen was entered with [`crate::Keyboard::KeysAndMouse`].
    Mouse(Mouse),
    Resized,
    /// The terminal has hung up. The last event.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mouse {
    pub gesture: Gesture,
    /// From 0.
    pub column: u16,
    /// From 0.
    pub row: u16,
}

/// Other buttons, movements and releases are not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gesture {
    Press,
    /// Away from the user.
    WheelUp,
    /// Towards the user.
    WheelDown,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
        Key::from_event(&KeyEvent::new(code, modifiers))
    }

    fn plain(code: KeyCode) -> Option<Key> {
        typed(code, KeyModifiers::NONE)
    }

    #[test]
    fn keys_of_one_ascii_byte_are_that_byte() {
        for byte in b' '..=b'~' {
            assert_eq!(plain(KeyCode::Char(char::from(byte))), Some(Key::Byte(byte)));
        }
        assert_eq!(typed(KeyCode::Char('H'), KeyModifiers::SHIFT), Some(Key::Byte(b'H')));
        assert_eq!(plain(KeyCode::Enter), Some(Key::Byte(b'\n')));
        assert_eq!(plain(KeyCode::Tab), Some(Key::Byte(b'\t')));
        assert_eq!(plain(KeyCode::Esc), Some(Key::Byte(0x1b)));
        assert_eq!(plain(KeyCode::Backspace), Some(Key::Byte(0x7f)));
    }

    #[test]
    fn multibyte_keys_have_no_byte() {
        assert_eq!(plain(KeyCode::Char('é')), None);
        assert_eq!(plain(KeyCode::Insert), None);
        assert_eq!(plain(KeyCode::Delete), None);
        assert_eq!(plain(KeyCode::BackTab), None);
        assert_eq!(typed(KeyCode::Char('h'), KeyModifiers::ALT), None);
        assert_eq!(typed(KeyCode::Left, KeyModifiers::ALT), None);
        let release = KeyEvent::new_with_kind(KeyCode::Char('h'), KeyModifiers::NONE, KeyEventKind::Release);
        assert_eq!(Key::from_event(&release), None);
    }

    #[test]
    fn the_pads_are_directions_with_or_without_shift() {
        let keys = [
            (KeyCode::Left, '4', Pad::Left),
            (KeyCode::Right, '6', Pad::Right),
            (KeyCode::Down, '2', Pad::Down),
            (KeyCode::Up, '8', Pad::Up),
            (KeyCode::Home, '7', Pad::Home),
            (KeyCode::PageUp, '9', Pad::PageUp),
            (KeyCode::End, '1', Pad::End),
            (KeyCode::PageDown, '3', Pad::PageDown),
        ];
        for (code, digit, key) in keys {
            assert_eq!(plain(code), Some(Key::Pad { key, shift: false }));
            assert_eq!(typed(code, KeyModifiers::SHIFT), Some(Key::Pad { key, shift: true }));
            let mut event = KeyEvent::new(KeyCode::Char(digit), KeyModifiers::NONE);
            assert_eq!(Key::from_event(&event), Some(Key::Byte(u8::try_from(digit).unwrap())));
            event.state = KeyEventState::KEYPAD;
            assert_eq!(Key::from_event(&event), Some(Key::Pad { key, shift: false }));
        }
        let mut five = KeyEvent::new(KeyCode::Char('5'), KeyModifiers::NONE);
        five.state = KeyEventState::KEYPAD;
        assert_eq!(Key::from_event(&five), Some(Key::Byte(b'5')));
    }

    #[test]
    fn control_keys_are_commands_or_bytes() {
        let control = |typed_char| typed(KeyCode::Char(typed_char), KeyModifiers::CONTROL);
        assert_eq!(control('c'), Some(Key::Interrupt));
        assert_eq!(control('d'), Some(Key::EndOfInput));
        assert_eq!(control('l'), Some(Key::Redraw));
        assert_eq!(control('z'), Some(Key::Suspend));
        assert_eq!(control('a'), Some(Key::Byte(1)));
        assert_eq!(control('j'), Some(Key::Byte(b'\n')));
        assert_eq!(control('4'), Some(Key::Byte(0x1c)));
        assert_eq!(control(' '), Some(Key::Byte(0)));
        assert_eq!(control('1'), None);
        assert_eq!(plain(KeyCode::F(1)), Some(Key::Function(1)));
    }
}
