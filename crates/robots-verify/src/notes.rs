//! Finds well-formed messages that make no sense, if one message alone shows it.

use std::{collections::BTreeSet, net::SocketAddr};

use robots::protocol::shape::{Label, Value};

pub(crate) const MAX_NOTES: usize = 20;

/// Fields or bombs that are remembered to detect duplicates: as many as a correct server can place blocks in a turn.
pub(crate) const MAX_REMEMBERED: usize = 1 << 16;

type Field = (u16, u16);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// In bytes from the start of the message.
    pub(crate) at: usize,
    pub(crate) text: String,
}

#[derive(Debug, Default)]
pub(crate) struct Notes {
    list: Vec<Note>,
    left_out: usize,
    message: &'static str,
    event: &'static str,
    players_count: u32,
    size_x: u32,
    size_y: u32,
    game_length: u32,
    turn: u32,
    // The offset of the count of the current map or list.
    map_at: usize,
    last_key: Option<u8>,
    keys: BTreeSet<u8>,
    fields: BTreeSet<Field>,
    players: BTreeSet<u8>,
    // So far in this turn. `blocks` are those it has placed, and `moved` is the last player who moved.
    bombs: BTreeSet<u32>,
    blocks: BTreeSet<Field>,
    moved: Option<u8>,
    past_explosions: bool,
}

impl Notes {
    pub(crate) fn add_part(&mut self, at: usize, label: Label, value: &Value) {
        match (label, value) {
            (Label::Message, Value::Variant(name)) => self.message = name,
            (Label::Item("events", _), Value::Variant(name)) => self.event(at, name),
            (Label::Field(name), &Value::Number(number)) => self.number(at, name, number),
            (Label::Field("address"), Value::Text(text)) => self.address(at, text),
            (Label::Field("players"), &Value::Entries(count)) => {
                self.map_at = at;
                if self.message == "Lobby" && count > self.players_count {
                    let most = self.players_count;
                    self.note(
                        at,
                        format!("{count} players in the lobby; a game of players_count {most} has begun before"),
                    );
                }
            }
            (Label::Field(_), &Value::Entries(_)) => self.map_at = at,
            (Label::Key(map, _), &Value::Player(player)) => self.key(at, map, player),
            (Label::Item(list, _), &Value::Player(player)) => {
                let new = self.keys.insert(player);
                self.unless(new, at, || format!("player {player} is already in {list}; each belongs there once"));
            }
            (Label::Item(list, _), &Value::Position(x, y)) => {
                let new = is_new(&mut self.fields, (x, y));
                self.unless(new, at, || format!("({x}, {y}) is already in {list}; each field belongs there once"));
                self.on_board(at, (x, y));
            }
            (Label::Item(..), &Value::Bomb(x, y, timer)) => {
                self.on_board(at, (x, y));
                if timer == 0 {
                    self.note(at + 4, "a bomb whose timer is 0 has exploded and is no longer on the board".to_owned());
                }
            }
            (Label::Field("id"), &Value::BombId(id)) => {
                let new = is_new(&mut self.bombs, id);
                self.unless(new, at, || {
                    format!("bomb {id} is in two events of this turn; each bomb has a number of its own")
                });
            }
            (Label::Field("id"), &Value::Player(player)) if self.event == "PlayerMoved" => self.moved(at, player),
            (Label::Field("position"), &Value::Position(x, y)) => {
                self.on_board(at, (x, y));
                if self.event == "BlockPlaced" && !is_new(&mut self.blocks, (x, y)) {
                    self.note(at, format!("a second block on ({x}, {y}) in this turn; a field holds one at most"));
                }
            }
            _ => {}
        }
    }

    pub(crate) fn end_list(&mut self, name: &str) {
        if name == "players" {
            self.players = std::mem::take(&mut self.keys);
        }
        if self.message == "Game" && matches!(name, "player_positions" | "scores") {
            let without: Vec<u8> = self.players.difference(&self.keys).copied().collect();
            if let [first, ..] = without[..] {
                let count = without.len();
                let who =
                    if count == 1 { format!("player {first}") } else { format!("{count} players, {first} first,") };
                let verb = if count == 1 { "has" } else { "have" };
                let text = format!("{who} {verb} no entry in {name}; a GUI may not show such a player");
                self.note(self.map_at, text);
            }
        }
        self.last_key = None;
        self.keys.clear();
        self.fields.clear();
    }

    pub(crate) fn take(&mut self) -> (Vec<Note>, usize) {
        (std::mem::take(&mut self.list), std::mem::take(&mut self.left_out))
    }

    fn unless(&mut self, right: bool, at: usize, text: impl FnOnce() -> String) {
        if !right {
            self.note(at, text());
        }
    }

    fn note(&mut self, at: usize, text: String) {
        if self.list.len() < MAX_NOTES {
            self.list.push(Note { at, text });
        } else {
            self.left_out += 1;
        }
    }

    fn number(&mut self, at: usize, name: &'static str, number: u32) {
        let stored = match name {
            "players_count" => &mut self.players_count,
            "size_x" => &mut self.size_x,
            "size_y" => &mut self.size_y,
            "game_length" => &mut self.game_length,
            "turn" => &mut self.turn,
            _ => &mut 0,
        };
        *stored = number;
        match (name, number) {
            ("players_count", 0) => self.note(at, "a game of 0 players never starts; 1 to 255 are possible".to_owned()),
            ("size_x" | "size_y", 0) => {
                self.note(at, format!("a board with {name} 0 has no fields; 1 to 65535 are possible"));
            }
            ("bomb_timer", 0) => {
                self.note(at, "bombs with a timer of 0 never explode; 1 to 65535 are possible".to_owned());
            }
            ("turn", turn) if self.message == "Game" && turn > self.game_length => {
                let last = self.game_length;
                self.note(at, format!("turn {turn} of a game whose last is {last}"));
            }
            ("score", score) if self.message == "Game" && score > self.turn => {
                let turn = self.turn;
                self.note(at, format!("score {score} after turn {turn}; a robot is counted once a turn at most"));
            }
            _ => {}
        }
    }

    fn address(&mut self, at: usize, text: &str) {
        if text.parse::<SocketAddr>().is_err() {
            let text = if text.parse::<std::net::IpAddr>().is_ok() {
                "an address without a port; expected a form such as 1.2.3.4:5 or [::1]:5, since some GUIs accept no \
                 other"
            } else {
                "neither IPv4:port nor [IPv6]:port, as in 1.2.3.4:5 or [::1]:5; some GUIs accept no other form"
            };
            self.note(at, text.to_owned());
        }
    }

    fn key(&mut self, at: usize, map: &'static str, player: u8) {
        if !self.keys.insert(player) {
            self.note(at, format!("player {player} is already in {map}; the last entry counts for most readers"));
        } else if let Some(last) = self.last_key.filter(|last| *last > player) {
            self.note(at, format!("player {player} after player {last}; maps are sent with ascending keys"));
        }
        self.last_key = Some(player);
        if self.message == "Game" && map != "players" && !self.players.contains(&player) {
            self.note(at, format!("player {player} is not in players"));
        }
    }

    fn on_board(&mut self, at: usize, (x, y): Field) {
        let (columns, rows) = (self.size_x, self.size_y);
        if self.message == "Game" && (u32::from(x) >= columns || u32::from(y) >= rows) {
            self.note(at, format!("({x}, {y}) is off the board, which has {columns} x {rows} fields"));
        }
    }

    fn event(&mut self, at: usize, event: &'static str) {
        self.event = event;
        let explosion = event == "BombExploded";
        if self.turn == 0 && (explosion || event == "BombPlaced") {
            self.note(at, format!("{event} in turn 0, which has PlayerMoved and BlockPlaced only"));
        }
        if explosion && self.past_explosions {
            self.note(at, "an explosion after another event; the explosions of a turn are first".to_owned());
        }
        self.past_explosions |= !explosion;
        if self.turn == 0 && event == "PlayerMoved" && !self.blocks.is_empty() {
            self.note(at, "a robot after a block; in turn 0 the robots are first".to_owned());
        }
    }

    fn moved(&mut self, at: usize, player: u8) {
        match self.moved {
            Some(last) if last == player => {
                self.note(at, format!("player {player} moves twice in one turn; once is possible"));
            }
            Some(last) if last > player => {
                self.note(
                    at,
                    format!("player {player} after player {last}; players act in the order of their numbers"),
                );
            }
            _ => {}
        }
        self.moved = Some(player);
    }
}

// Remembers the item if there is room.
fn is_new<T: Ord>(remembered: &mut BTreeSet<T>, item: T) -> bool {
    if remembered.len() < MAX_REMEMBERED { remembered.insert(item) } else { !remembered.contains(&item) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{explain::Explainer, kind::Kind, text::hex};

    #[track_caller]
    fn notes(kind: Kind, hex: &str) -> Vec<(usize, String)> {
        let bytes: Vec<u8> = hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        let report = Explainer::datagram(kind, 1, &bytes);
        assert_eq!(report.fault, None);
        report.notes.into_iter().map(|note| (note.at, note.text)).collect()
    }

    #[test]
    fn contradictions_are_noted_at_their_part() {
        let cases: [(_, _, &[_]); 8] = [
            (
                Kind::Server,
                "00 00 00 00 00 00 00 00 00 00 00 00 00",
                &[
                    (2, "a game of 0 players"),
                    (3, "a board with size_x 0"),
                    (5, "a board with size_y 0"),
                    (11, "bombs with a timer of 0"),
                ],
            ),
            (
                Kind::Server,
                "04 00 00 00 03 01 00 00 00 00 00 00 00 00 00 02 00 00 00 00",
                &[(10, "player 0 after player 1")],
            ),
            (Kind::Server, "04 00 00 00 02 01 00 00 00 00 01 00 00 00 00", &[(10, "player 1 is already in scores")]),
            (
                Kind::Server,
                "03 00 01 00 00 00 02 \
                 01 00 00 00 01 00 00 00 02 03 03 00 00 00 02 00 01 00 02 00 01 00 02 \
                 01 00 00 00 02 00 00 00 01 03 00 00 00 01 00 01 00 02",
                &[(17, "player 3 is already in robots_destroyed"), (26, "(1, 2) is already in blocks")],
            ),
            // A bomb, its explosion in the same turn, player 2, player 1, player 1, a block twice.
            (
                Kind::Server,
                "03 00 01 00 00 00 07 00 00 00 00 09 00 00 00 00 01 00 00 00 09 00 00 00 00 00 00 00 00 \
                 02 02 00 00 00 00 02 01 00 00 00 00 02 01 00 00 00 00 03 00 00 00 00 03 00 00 00 00",
                &[
                    (16, "an explosion after another"),
                    (17, "bomb 9 is in two events"),
                    (36, "player 1 after player 2"),
                    (42, "player 1 moves twice"),
                    (53, "a second block on (0, 0)"),
                ],
            ),
            // Turn 0 has another order.
            (
                Kind::Server,
                "03 00 00 00 00 00 03 03 00 00 00 00 02 00 00 00 00 00 00 00 00 00 01 00 00 00 00",
                &[(12, "a robot after a block"), (18, "BombPlaced in turn 0")],
            ),
            // 2 x 3 fields, length 4, turn 5; players 0 and 1. Player 0 has no score, and player 7 does not exist.
            (
                Kind::Display,
                "01 00 00 02 00 03 00 04 00 05 \
                 00 00 00 02 00 00 09 31 2e 32 2e 33 2e 34 3a 35 01 00 09 31 2e 32 2e 33 2e 34 3a 35 \
                 00 00 00 02 00 00 00 00 00 01 00 02 00 00 \
                 00 00 00 02 00 00 00 03 00 01 00 02 \
                 00 00 00 01 00 01 00 01 00 00 \
                 00 00 00 02 00 01 00 01 00 01 00 01 \
                 00 00 00 02 01 00 00 00 06 07 00 00 00 00",
                &[
                    (8, "turn 5 of a game whose last is 4"),
                    (48, "(2, 0) is off the board"),
                    (56, "(0, 3) is off the board"),
                    (72, "a bomb whose timer is 0"),
                    (82, "(1, 1) is already in explosions"),
                    (91, "score 6 after turn 5"),
                    (95, "player 7 is not in players"),
                    (86, "player 0 has no entry in scores"),
                ],
            ),
            // A lobby has room for a game.
            (
                Kind::Display,
                "00 00 01 00 01 00 01 00 00 00 00 00 01 00 00 00 02 \
                 00 00 09 31 2e 32 2e 33 2e 34 3a 35 01 00 09 31 2e 32 2e 33 2e 34 3a 35",
                &[(13, "2 players in the lobby")],
            ),
        ];
        for (kind, hex, expected) in cases {
            let notes = notes(kind, hex);
            let said: Vec<_> = notes.iter().map(|(at, text)| (*at, &**text)).collect();
            assert_eq!(said.len(), expected.len(), "{said:?}");
            for ((at, text), (expected_at, start)) in said.iter().zip(expected) {
                assert!(at == expected_at && text.starts_with(start), "{said:?}");
            }
        }
    }

    #[test]
    fn addresses_have_a_port_and_brackets() {
        let accepted =
            |address: &str| notes(Kind::Server, &format!("01 00 00 {:02x} {}", address.len(), hex(address.as_bytes())));
        for right in ["1.2.3.4:5", "[::1]:5", "[::ffff:127.0.0.1]:42704"] {
            assert_eq!(accepted(right), []);
        }
        for bare in ["1.2.3.4", "::1"] {
            assert!(accepted(bare)[0].1.starts_with("an address without a port"), "{bare}");
        }
        for wrong in ["", "localhost:5", "fe80::1:5:x", "1.2.3.4:99999"] {
            assert!(accepted(wrong)[0].1.starts_with("neither IPv4:port"), "{wrong}");
            assert_eq!(accepted(wrong)[0].0, 3);
        }
    }

    #[test]
    fn notes_are_bounded() {
        let scores = "00 00 00 00 00 ".repeat(100);
        let bytes = format!("04 00 00 00 64 {scores}");
        assert_eq!(notes(Kind::Server, &bytes).len(), MAX_NOTES);
    }
}
