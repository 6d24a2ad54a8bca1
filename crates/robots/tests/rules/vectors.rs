//! The worked examples of the protocol, to the byte, both ways.

use std::fmt::Debug;

use netcore::wire::{Decode, Encode, read_datagram};
use robots::{
    Action, Bomb, ClientMessage, Direction, DrawMessage, GamePicture, InputMessage, Parameters, ServerMessage,
};

use crate::{
    build::{accepted, at, block, bomb, boom, id, moved, player, turn},
    streams::bytes as encoded,
    table::text,
};

#[track_caller]
fn check<T: Encode + Decode + PartialEq + Debug>(message: &T, hex: &str) {
    let bytes: Vec<u8> = hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
    assert_eq!(encoded(message)[..], bytes);
    assert_eq!(read_datagram::<T>(&bytes, 1_000).as_ref(), Ok(message));
}

#[test]
fn client_to_server() {
    check(&ClientMessage::Join { name: text("Żółć!") }, "00 09 c5 bb c3 b3 c5 82 c4 87 21");
    check(&ClientMessage::Join { name: text("") }, "00 00");
    check(&ClientMessage::Join { name: text("\0") }, "00 01 00");
    check(&ClientMessage::Action(Action::PlaceBomb), "01");
    check(&ClientMessage::Action(Action::PlaceBlock), "02");
    check(&ClientMessage::Action(Action::Move(Direction::Up)), "03 00");
    check(&ClientMessage::Action(Action::Move(Direction::Right)), "03 01");
    check(&ClientMessage::Action(Action::Move(Direction::Down)), "03 02");
    check(&ClientMessage::Action(Action::Move(Direction::Left)), "03 03");
}

#[test]
fn gui_to_client() {
    check::<InputMessage>(&Action::PlaceBomb, "00");
    check::<InputMessage>(&Action::PlaceBlock, "01");
    check::<InputMessage>(&Action::Move(Direction::Left), "02 03");
}

#[test]
fn hello() {
    let parameters = Parameters {
        server_name: text("abc"),
        players_count: 2,
        size_x: 10,
        size_y: 8,
        game_length: 50,
        explosion_radius: 3,
        bomb_timer: 4,
    };
    check(&ServerMessage::Hello(parameters), "00 03 61 62 63 02 00 0a 00 08 00 32 00 03 00 04");
}

#[test]
fn accepted_player() {
    let message = accepted(0, "Ela", "127.0.0.1:4000");
    check(&message, "01 00 03 45 6c 61 0e 31 32 37 2e 30 2e 30 2e 31 3a 34 30 30 30");
}

#[test]
fn game_started() {
    let players = [(id(1), player("ó", "[::1]:9"))].into();
    check(&ServerMessage::GameStarted { players }, "02 00 00 00 01 01 02 c3 b3 07 5b 3a 3a 31 5d 3a 39");
}

#[test]
fn turns() {
    check(
        &turn(44, &[moved(3, 2, 4), moved(4, 3, 5), bomb(5, 5, 7)]),
        "03 00 2c 00 00 00 03 02 03 00 02 00 04 02 04 00 03 00 05 00 00 00 00 05 00 05 00 07",
    );
    check(
        &turn(2, &[boom(258, &[0, 2], &[at(1, 0)]), block(6, 6)]),
        "03 00 02 00 00 00 02 01 00 00 01 02 00 00 00 02 00 02 00 00 00 01 00 01 00 00 03 00 06 00 06",
    );
    check(&turn(65_535, &[]), "03 ff ff 00 00 00 00");
}

#[test]
fn game_ended() {
    let scores = [(id(0), 3), (id(1), 0)].into();
    check(&ServerMessage::GameEnded { scores }, "04 00 00 00 02 00 00 00 00 03 01 00 00 00 00");
}

#[test]
fn pictures() {
    let parameters = Parameters {
        server_name: text("s"),
        players_count: 1,
        size_x: 2,
        size_y: 3,
        game_length: 4,
        explosion_radius: 5,
        bomb_timer: 6,
    };
    check(
        &DrawMessage::Lobby { parameters, players: [].into() },
        "00 01 73 01 00 02 00 03 00 04 00 05 00 06 00 00 00 00",
    );
    let picture = GamePicture {
        server_name: text("s"),
        size_x: 2,
        size_y: 3,
        game_length: 4,
        turn: 1,
        players: [(id(0), player("a", "b"))].into(),
        player_positions: [(id(0), at(1, 2))].into(),
        blocks: vec![at(0, 0)],
        bombs: vec![Bomb { position: at(1, 1), timer: 6 }],
        explosions: vec![],
        scores: [(id(0), 0)].into(),
    };
    check(
        &DrawMessage::Game(picture),
        "01 01 73 00 02 00 03 00 04 00 01 00 00 00 01 00 01 61 01 62 00 00 00 01 00 00 01 00 02 00 00 00 01 00 00 00 00 \
         00 00 00 01 00 01 00 01 00 06 00 00 00 00 00 00 00 01 00 00 00 00 00",
    );
}

#[test]
fn a_map_is_read_in_any_order() {
    let bytes = [4, 0, 0, 0, 2, 9, 0, 0, 0, 1, 3, 0, 0, 0, 2];
    let scores = [(id(3), 2), (id(9), 1)].into();
    assert_eq!(read_datagram::<ServerMessage>(&bytes, 9), Ok(ServerMessage::GameEnded { scores }));
}
