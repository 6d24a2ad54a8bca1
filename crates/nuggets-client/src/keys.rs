use nuggets::Direction;
use termkit::{Key, Pad};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Send(u8),
    Leave,
    /// Leave the game, or immediately if the client already waits for the server's goodbye.
    Interrupt,
    ToggleHelp,
    /// Hide the result and show the last board, or the reverse.
    ToggleResult,
    ToggleLast,
    Again,
    Scroll(Direction),
    Redraw,
    /// Stop until the shell continues the program.
    Suspend,
    Ignore,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    Game,
    Help,
    Result,
    LastResult,
    TooSmall,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Control {
    ByHand,
    ByBot,
    /// A spectator has no player.
    Not,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Context {
    pub(crate) shown: Content,
    pub(crate) control: Control,
    pub(crate) has_last: bool,
}

/// The keys to leave, to redraw and for help always work. Keys at the help, at the last result or in a small window are
/// not sent, since a hidden game cannot be controlled.
pub(crate) fn action(typed: Key, context: Context) -> Action {
    match typed {
        Key::Interrupt => Action::Interrupt,
        Key::EndOfInput | Key::Byte(b'Q') => Action::Leave,
        Key::Redraw => Action::Redraw,
        Key::Suspend => Action::Suspend,
        _ if context.shown == Content::Result => match typed {
            Key::Byte(b'\n') => Action::Again,
            Key::Byte(b'\t') => Action::ToggleResult,
            Key::Byte(b'q') => Action::Leave,
            Key::Pad { key, .. } => Action::Scroll(direction(key)),
            _ => Action::Ignore,
        },
        Key::Byte(b'\n') if context.shown == Content::TooSmall => Action::Redraw,
        _ if context.shown == Content::TooSmall => Action::Ignore,
        _ if context.shown == Content::Help => Action::ToggleHelp,
        _ if context.shown == Content::LastResult => Action::ToggleLast,
        Key::Byte(b'\t') if context.has_last => Action::ToggleLast,
        Key::Function(1) | Key::Byte(b'?') => Action::ToggleHelp,
        Key::Pad { key, .. } if context.control == Control::Not => Action::Scroll(direction(key)),
        _ if context.control != Control::ByHand => Action::Ignore,
        Key::Pad { key, shift } => {
            let step = direction(key).key();
            Action::Send(if shift { step.to_ascii_uppercase() } else { step })
        }
        Key::Byte(byte) => Action::Send(byte),
        Key::Function(_) => Action::Ignore,
    }
}

const fn direction(key: Pad) -> Direction {
    match key {
        Pad::Left => Direction::Left,
        Pad::Right => Direction::Right,
        Pad::Down => Direction::Down,
        Pad::Up => Direction::Up,
        Pad::Home => Direction::UpLeft,
        Pad::PageUp => Direction::UpRight,
        Pad::End => Direction::DownLeft,
        Pad::PageDown => Direction::DownRight,
    }
}

/// The keys that work before the game.
pub(crate) const ALWAYS: [(&str, &str); 2] = [("?", "keys"), ("Q", "leave")];

pub(crate) const fn footer(context: Context) -> &'static [(&'static str, &'static str)] {
    match context.control {
        Control::ByHand => &[("hjkl", "move"), ("HJKL", "run"), ("yubn", "diagonally"), ("?", "keys"), ("Q", "leave")],
        Control::ByBot => &ALWAYS,
        Control::Not => &[("arrows", "look around"), ("?", "keys"), ("Q", "leave")],
    }
}

pub(crate) fn help(Context { control, has_last, .. }: Context) -> Vec<(&'static str, &'static str)> {
    let mut rows = vec![];
    match control {
        Control::ByHand => rows.extend([
            ("h j k l", "left, down, up, right; or the arrow keys"),
            ("y u b n", "diagonally; or Home, PgUp, End, PgDn"),
            ("H J K L ...", "run that way; or Shift and an arrow"),
        ]),
        Control::ByBot => rows.push(("", "A bot plays; you can watch it and leave.")),
        Control::Not => rows.push(("arrows", "show another part of a map that is larger than the window")),
    }
    if has_last {
        rows.push(("Tab", "the result of the last game"));
    }
    rows.extend([("Q", "leave the game"), ("F1 ?", "show these keys"), ("Ctrl-L", "redraw the screen"), ("", "")]);
    match control {
        Control::ByHand => rows.extend([("@", "you"), ("A B C ...", "the other players")]),
        Control::ByBot => rows.extend([("@", "the bot"), ("A B C ...", "the other players")]),
        Control::Not => rows.push(("A B C ...", "the players")),
    }
    rows.extend([("*", "gold"), (". #", "floor of a room, floor of a passage"), ("- | +", "walls")]);
    if control != Control::Not {
        rows.push(("(dim)", "remembered, not in sight"));
    }
    rows.extend([("", ""), ("", "The game continues. Press any key to return.")]);
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAYING: Context = Context { shown: Content::Game, control: Control::ByHand, has_last: false };

    fn pad(key: Pad, shift: bool) -> Key {
        Key::Pad { key, shift }
    }

    const ALL_SHOWN: [Content; 5] =
        [Content::Game, Content::Help, Content::Result, Content::LastResult, Content::TooSmall];
    const ALL_CONTROLS: [Control; 3] = [Control::ByHand, Control::ByBot, Control::Not];

    #[test]
    fn the_pads_are_the_eight_moves_and_shift_makes_them_runs() {
        let pads =
            [Pad::Left, Pad::Right, Pad::Down, Pad::Up, Pad::Home, Pad::PageUp, Pad::End, Pad::PageDown].into_iter();
        for (key, letter) in pads.zip(*b"hljkyubn") {
            assert_eq!(action(pad(key, false), PLAYING), Action::Send(letter));
            assert_eq!(action(pad(key, true), PLAYING), Action::Send(letter.to_ascii_uppercase()));
        }
    }

    #[test]
    fn leaving_works_in_every_context() {
        for (shown, control) in ALL_SHOWN.into_iter().flat_map(|shown| ALL_CONTROLS.map(|control| (shown, control))) {
            let context = Context { shown, control, has_last: true };
            assert_eq!(action(Key::Byte(b'Q'), context), Action::Leave);
            assert_eq!(action(Key::EndOfInput, context), Action::Leave);
            assert_eq!(action(Key::Interrupt, context), Action::Interrupt);
        }
    }

    #[test]
    fn other_bytes_are_sent_only_during_a_game() {
        for byte in (0..=0x7f).filter(|&byte| byte != b'Q') {
            let typed = |shown, control| action(Key::Byte(byte), Context { shown, control, has_last: false });
            let help = byte == b'?';
            assert_eq!(
                typed(Content::Game, Control::ByHand),
                if help { Action::ToggleHelp } else { Action::Send(byte) }
            );
            for control in [Control::ByBot, Control::Not] {
                assert_eq!(typed(Content::Game, control), if help { Action::ToggleHelp } else { Action::Ignore });
            }
            for control in ALL_CONTROLS {
                assert_eq!(typed(Content::Help, control), Action::ToggleHelp);
                assert_eq!(typed(Content::LastResult, control), Action::ToggleLast);
                let small = if byte == b'\n' { Action::Redraw } else { Action::Ignore };
                assert_eq!(typed(Content::TooSmall, control), small);
                let at_result = match byte {
                    b'\n' => Action::Again,
                    b'\t' => Action::ToggleResult,
                    b'q' => Action::Leave,
                    _ => Action::Ignore,
                };
                assert_eq!(typed(Content::Result, control), at_result);
            }
        }
    }

    #[test]
    fn keys_depend_on_screen_and_pilot() {
        let last = Context { has_last: true, ..PLAYING };
        let shown = |shown| Context { shown, ..PLAYING };
        let control = |control| Context { control, ..PLAYING };
        let left = pad(Pad::Left, false);
        for (typed, context, meant) in [
            (Key::Function(1), PLAYING, Action::ToggleHelp),
            (Key::Function(2), PLAYING, Action::Ignore),
            (left, shown(Content::Help), Action::ToggleHelp),
            (left, shown(Content::LastResult), Action::ToggleLast),
            (left, shown(Content::TooSmall), Action::Ignore),
            (left, shown(Content::Result), Action::Scroll(Direction::Left)),
            (left, control(Control::Not), Action::Scroll(Direction::Left)),
            (left, control(Control::ByBot), Action::Ignore),
            (Key::Byte(b'\t'), last, Action::ToggleLast),
            (Key::Byte(b'\t'), Context { shown: Content::LastResult, ..last }, Action::ToggleLast),
            (Key::Byte(b'\t'), Context { control: Control::Not, ..last }, Action::ToggleLast),
        ] {
            assert_eq!(action(typed, context), meant, "{typed:?} in {context:?}");
        }
    }

    #[test]
    fn the_help_fits_the_usual_terminal() {
        for control in [Control::ByHand, Control::ByBot, Control::Not] {
            assert!(help(Context { control, has_last: true, ..PLAYING }).len() + 2 <= 24);
        }
    }
}
