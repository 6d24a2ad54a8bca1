//! Messages and bytes as readable text of bounded length, in the notation of docs/protocols/robots.md.

use std::{collections::BTreeMap, fmt::Display};

use netcore::{
    DecodeError,
    wire::{Decode, read_datagram, read_message},
};
use robots::{
    Action, Bomb, ClientMessage, Direction, DrawMessage, Event, GamePicture, InputMessage, Parameters, Player,
    PlayerId, Position, ServerMessage,
    protocol::{MAX_CLIENT_MESSAGE, MAX_PICTURE_ITEMS, MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE},
};

use crate::tape::{Carrier, Description, Framed, Speech, Talk};

/// The maximum length of the text of a message, in characters.
const LONGEST: usize = 300;
const MOST_BYTES: usize = 32;

/// The format between a server under test and a client of the tester.
pub(super) static WITH_SERVER: Talk = Talk { tester: CLIENT, program: SERVER, is_binary: true };
/// The format between a client under test and the server of the tester.
pub(super) static WITH_CLIENT: Talk = Talk { tester: SERVER, program: CLIENT, is_binary: true };
/// The format between a client under test and the GUI of the tester.
pub(super) static WITH_GUI: Talk = Talk { tester: INPUT, program: PICTURE, is_binary: true };

const CLIENT: Speech = Speech {
    carrier: Carrier::Stream(|bytes| framed::<ClientMessage>(bytes, MAX_CLIENT_MESSAGE, 0)),
    tell: |bytes| describe(bytes, 0, client_message),
};
const SERVER: Speech = Speech {
    carrier: Carrier::Stream(|bytes| framed::<ServerMessage>(bytes, MAX_SERVER_MESSAGE, MAX_SERVER_ITEMS)),
    tell: |bytes| describe(bytes, MAX_SERVER_ITEMS, message),
};
const INPUT: Speech = Speech {
    carrier: Carrier::Datagrams,
    tell: |bytes| describe::<InputMessage>(bytes, 0, |action| self::action(*action)),
};
const PICTURE: Speech =
    Speech { carrier: Carrier::Datagrams, tell: |bytes| describe(bytes, MAX_PICTURE_ITEMS, picture) };

fn framed<T: Decode>(bytes: &[u8], max: usize, max_items: u32) -> Framed {
    match read_message::<T>(bytes, max, max_items) {
        Ok(Some((_, length))) => Framed::Whole(length),
        Ok(None) => Framed::Part,
        Err(error) => Framed::Wrong(place(&error, bytes.len()), reason(&error)),
    }
}

fn describe<T: Decode>(bytes: &[u8], max_items: u32, tell: impl Fn(&T) -> String) -> Description {
    match read_datagram::<T>(bytes, max_items) {
        Ok(message) => Description::right(tell(&message)),
        Err(error) => {
            let wrong = Some((place(&error, bytes.len()), reason(&error)));
            Description { text: "(no message)".to_owned(), wrong }
        }
    }
}

// The position at which decoding stopped.
fn place(error: &DecodeError, length: usize) -> usize {
    match *error {
        DecodeError::UnknownTag { at, .. }
        | DecodeError::NotUtf8 { at }
        | DecodeError::TooMany { at, .. }
        | DecodeError::Trailing { at, .. }
        | DecodeError::Invalid { at, .. } => at,
        _ => length,
    }
}

// The error at that position.
fn reason(error: &DecodeError) -> String {
    let text = error.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, reason)| reason.to_owned())
}

fn clipped(text: String) -> String {
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
    }
}

// A turn may have tens of thousands of items, so only the first ones are shown.
fn list<T>(items: impl IntoIterator<Item = T>, show: impl Fn(T) -> String) -> String {
    let items: Vec<_> = items.into_iter().take(LONGEST).map(show).collect();
    clipped(format!("[{}]", items.join(", ")))
}

fn map<'a, T: 'a>(items: impl IntoIterator<Item = (&'a PlayerId, &'a T)>, show: impl Fn(&T) -> String) -> String {
    let items: Vec<_> = items.into_iter().map(|(id, item)| format!("{}: {}", id.0, show(item))).collect();
    clipped(format!("{{{}}}", items.join(", ")))
}

fn text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

/// A field as `(2, 4)`.
pub(super) fn field(position: Position) -> String {
    format!("({}, {})", position.x, position.y)
}

/// Fields in brackets.
pub(super) fn fields<'a>(positions: impl IntoIterator<Item = &'a Position>) -> String {
    list(positions, |position| field(*position))
}

/// Numbers and the like in brackets.
pub(super) fn values<T: Display>(values: impl IntoIterator<Item = T>) -> String {
    list(values, |value| value.to_string())
}

pub(super) fn event(event: &Event) -> String {
    match event {
        Event::BombPlaced { id, position } => format!("BombPlaced {{ id: {}, position: {} }}", id.0, field(*position)),
        Event::BombExploded { id, robots_destroyed, blocks_destroyed } => {
            let (robots, blocks) = (values(robots_destroyed.iter().map(|id| id.0)), fields(blocks_destroyed));
            let id = id.0;
            format!("BombExploded {{ id: {id}, robots_destroyed: {robots}, blocks_destroyed: {blocks} }}")
        }
        Event::PlayerMoved { id, position } => {
            format!("PlayerMoved {{ id: {}, position: {} }}", id.0, field(*position))
        }
        Event::BlockPlaced { position } => format!("BlockPlaced {{ position: {} }}", field(*position)),
    }
}

/// Events in brackets.
pub(super) fn events<'a>(events: impl IntoIterator<Item = &'a Event>) -> String {
    list(events, event)
}

pub(super) fn action(action: Action) -> String {
    let way = match action {
        Action::PlaceBomb => return "PlaceBomb".to_owned(),
        Action::PlaceBlock => return "PlaceBlock".to_owned(),
        Action::Move(Direction::Up) => "Up",
        Action::Move(Direction::Right) => "Right",
        Action::Move(Direction::Down) => "Down",
        Action::Move(Direction::Left) => "Left",
    };
    format!("Move({way})")
}

fn client_message(message: &ClientMessage) -> String {
    match message {
        ClientMessage::Join { name } => format!("Join {{ name: {} }}", text(name)),
        ClientMessage::Action(action) => self::action(*action),
    }
}

fn player(player: &Player) -> String {
    format!("{{ name: {}, address: {} }}", text(&player.name), text(&player.address))
}

/// Players as a map.
pub(super) fn players(players: &BTreeMap<PlayerId, Player>) -> String {
    map(players, player)
}

fn parameters(parameters: &Parameters) -> String {
    let Parameters { server_name, players_count, size_x, size_y, game_length, explosion_radius, bomb_timer } =
        parameters;
    format!(
        "server_name: {}, players_count: {players_count}, size_x: {size_x}, size_y: {size_y}, game_length: {game_length}, \
         explosion_radius: {explosion_radius}, bomb_timer: {bomb_timer}",
        text(server_name)
    )
}

pub(super) fn message(message: &ServerMessage) -> String {
    clipped(match message {
        ServerMessage::Hello(of) => format!("Hello {{ {} }}", parameters(of)),
        ServerMessage::AcceptedPlayer { id, player: of } => {
            format!("AcceptedPlayer {{ id: {}, player: {} }}", id.0, player(of))
        }
        ServerMessage::GameStarted { players: all } => format!("GameStarted {{ players: {} }}", players(all)),
        ServerMessage::Turn { turn, events: list } => format!("Turn {{ turn: {turn}, events: {} }}", events(list)),
        ServerMessage::GameEnded { scores } => format!("GameEnded {{ scores: {} }}", scores_of(scores)),
    })
}

pub(super) fn picture(message: &DrawMessage) -> String {
    match message {
        DrawMessage::Lobby { parameters: of, players: all } => {
            clipped(format!("Lobby {{ {}, players: {} }}", parameters(of), players(all)))
        }
        DrawMessage::Game(game) => format!("Game {{ {} }}", self::game(game)),
    }
}

/// The part of a game's picture that has no separate rule.
pub(super) fn frame(picture: &GamePicture) -> String {
    let GamePicture { server_name, size_x, size_y, game_length, turn, players: all, .. } = picture;
    format!(
        "server_name: {}, size_x: {size_x}, size_y: {size_y}, game_length: {game_length}, turn: {turn}, players: {}",
        text(server_name),
        players(all)
    )
}

fn game(picture: &GamePicture) -> String {
    format!(
        "{}, player_positions: {}, blocks: {}, bombs: {}, explosions: {}, scores: {}",
        frame(picture),
        positions(&picture.player_positions),
        fields(&picture.blocks),
        bombs(&picture.bombs),
        fields(&picture.explosions),
        scores_of(&picture.scores)
    )
}

/// The positions of robots, as `{0: (1, 2)}`.
pub(super) fn positions(positions: &BTreeMap<PlayerId, Position>) -> String {
    map(positions, |position| field(*position))
}

pub(super) fn bombs(bombs: &[Bomb]) -> String {
    list(bombs, |bomb| format!("{{ position: {}, timer: {} }}", field(bomb.position), bomb.timer))
}

/// Scores as `{0: 3, 1: 0}`.
pub(super) fn scores_of(scores: &BTreeMap<PlayerId, u32>) -> String {
    map(scores, u32::to_string)
}

pub(super) fn bytes(bytes: &[u8]) -> String {
    let shown: Vec<_> = bytes.iter().take(MOST_BYTES).map(|byte| format!("{byte:02x}")).collect();
    match bytes.len().saturating_sub(MOST_BYTES) {
        0 => format!("[{}]", shown.join(" ")),
        more => format!("[{} and {more} more]", shown.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../../../docs/protocols/robots.md");

    #[test]
    fn messages_are_shown_as_in_the_protocol_page() {
        let mut seen = 0;
        for row in PAGE.lines() {
            let cells: Vec<_> = row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let [_, kind, message, bytes, _] = cells[..] else { continue };
            let speech = match kind {
                "client" => CLIENT,
                "server" => SERVER,
                "input" => INPUT,
                "display" => PICTURE,
                _ => continue,
            };
            let digits: Vec<char> = bytes.chars().filter(char::is_ascii_hexdigit).collect();
            let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(&String::from_iter(pair), 16).unwrap());
            let bytes: Vec<u8> = pairs.collect();
            let describe = (speech.tell)(&bytes);
            assert_eq!((describe.text.as_str(), describe.wrong), (message, None));
            if let Carrier::Stream(frame) = speech.carrier {
                assert!(matches!(frame(&bytes), Framed::Whole(length) if length == bytes.len()), "{message}");
            }
            seen += 1;
        }
        assert!(seen >= 14, "{seen}");
    }

    #[test]
    fn reports_the_byte_of_the_decoding_error() {
        let Carrier::Stream(frame) = SERVER.carrier else { panic!("TCP is a stream") };
        // A turn whose second event has the tag 9.
        let turn = [3, 0, 1, 0, 0, 0, 2, 3, 0, 1, 0, 1, 9, 0, 0];
        assert!(matches!(frame(&turn), Framed::Wrong(12, why) if why.contains('9')));
        assert!(matches!(frame(&turn[..12]), Framed::Part));
    }
}
