use netcore::{Client as _, DisconnectReason, Time};
use robots::{
    Action, Bomb, Client, ClientMessage, Direction, DrawMessage, GamePicture, Parameters, PlayerId, ServerMessage,
    client::MAX_OUTGOING, protocol::MAX_DATAGRAM,
};

use crate::{
    build::{accepted, at, block, bomb, boom, id, moved, player, turn},
    streams::bytes,
    table::{config, deliver, request, text},
};

fn hello(change: impl Fn(&mut Parameters)) -> ServerMessage {
    let mut parameters = config().parameters;
    change(&mut parameters);
    ServerMessage::Hello(parameters)
}

fn greeted(change: impl Fn(&mut Parameters)) -> Client {
    let mut client = Client::new(text("Ann"), "10.0.0.1:7".parse().ok());
    assert!(deliver(&mut client, &hello(change)));
    client
}

/// The robots of players 0 and 1 are in the corner.
fn playing(change: impl Fn(&mut Parameters)) -> Client {
    let mut client = greeted(change);
    let players = [(id(0), player("Ann", "10.0.0.1:7")), (id(1), player("Bob", "10.0.0.1:8"))].into();
    assert!(!deliver(&mut client, &ServerMessage::GameStarted { players }));
    assert!(deliver(&mut client, &turn(0, &[moved(0, 0, 0), moved(1, 0, 0)])));
    client
}

#[track_caller]
fn game(client: &Client) -> GamePicture {
    match client.picture() {
        Some(Ok(DrawMessage::Game(picture))) => picture,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn lobby(client: &Client) -> Vec<(u8, String)> {
    match client.picture() {
        Some(Ok(DrawMessage::Lobby { players, .. })) => {
            players.iter().map(|(id, player)| (id.0, player.name.to_string())).collect()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn input_joins_in_the_lobby_and_acts_in_the_game() {
    let mut client = greeted(|_| ());
    for input in [Action::PlaceBomb, Action::Move(Direction::Left)] {
        assert_eq!(request(&mut client, input), ClientMessage::Join { name: text("Ann") });
    }
    let mut client = playing(|_| ());
    assert_eq!(
        request(&mut client, Action::Move(Direction::Left)),
        ClientMessage::Action(Action::Move(Direction::Left))
    );
    assert!(deliver(&mut client, &ServerMessage::GameEnded { scores: [].into() }));
    assert_eq!(request(&mut client, Action::PlaceBlock), ClientMessage::Join { name: text("Ann") });
}

#[test]
fn bomb_timer_starts_in_full_and_stops_at_zero() {
    let mut client = playing(|parameters| parameters.bomb_timer = 3);
    assert!(deliver(&mut client, &turn(1, &[bomb(5, 4, 4), bomb(6, 4, 4)])));
    for timer in [3, 2, 1, 0, 0] {
        let lying = Bomb { position: at(4, 4), timer };
        assert_eq!(game(&client).bombs, [lying, lying]);
        assert!(deliver(&mut client, &turn(9, &[])));
    }
}

#[test]
fn explosions_use_the_blocks_at_the_start_of_the_turn() {
    let mut client = playing(|parameters| (parameters.explosion_radius, parameters.size_y) = (9, 1));
    assert!(deliver(&mut client, &turn(1, &[block(2, 0), block(6, 0), bomb(0, 4, 0), bomb(1, 5, 0)])));
    let events = [block(5, 0), boom(0, &[], &[at(2, 0), at(6, 0)]), boom(1, &[], &[at(6, 0)])];
    assert!(deliver(&mut client, &turn(2, &events)));
    assert_eq!(game(&client).explosions, (2..=6).map(|x| at(x, 0)).collect::<Vec<_>>());
    assert_eq!((game(&client).blocks, game(&client).bombs), (vec![at(5, 0)], vec![]));
    assert!(deliver(&mut client, &turn(3, &[])));
    assert_eq!(game(&client).explosions, []);
}

#[test]
fn explosion_of_an_unknown_bomb_counts_without_a_blast() {
    let mut client = playing(|_| ());
    assert!(deliver(&mut client, &turn(1, &[block(1, 1)])));
    assert!(deliver(&mut client, &turn(2, &[boom(99, &[0], &[at(1, 1)])])));
    let picture = game(&client);
    assert_eq!((picture.explosions, picture.blocks, picture.scores[&id(0)]), (vec![], vec![], 1));
}

#[test]
fn bomb_may_explode_in_its_first_turn_and_reuse_an_id() {
    let mut client = playing(|parameters| parameters.explosion_radius = 0);
    assert!(deliver(&mut client, &turn(1, &[bomb(0, 2, 2), boom(0, &[], &[]), bomb(1, 3, 3), bomb(1, 4, 4)])));
    assert_eq!(game(&client).explosions, [at(2, 2)]);
    assert_eq!(game(&client).bombs, [Bomb { position: at(4, 4), timer: 2 }]);
}

#[test]
fn events_off_the_board_or_of_unknown_players_are_ignored() {
    let mut client = playing(|parameters| parameters.explosion_radius = 65_535);
    let before = game(&client);
    let (off, far) = (10, 65_535);
    let events = [moved(0, off, 0), moved(1, 0, far), moved(9, 1, 1), block(off, 0), block(far, far), bomb(0, 0, off)];
    assert!(deliver(&mut client, &turn(0, &events)));
    assert!(deliver(&mut client, &turn(0, &[boom(0, &[9, 255], &[at(far, far), at(3, 3)])])));
    assert_eq!(game(&client), before);
}

#[test]
fn messages_out_of_place_are_ignored() {
    let started = || ServerMessage::GameStarted { players: [(id(3), player("Eve", "?"))].into() };
    let ended = || ServerMessage::GameEnded { scores: [].into() };
    let mut silent = Client::new(text("Ann"), None);
    for message in [accepted(0, "Ann", "?"), started(), turn(0, &[moved(0, 0, 0)]), ended()] {
        assert!(!deliver(&mut silent, &message));
        assert!(silent.picture().is_none() && silent.players().is_empty());
    }
    let mut waiting = greeted(|_| ());
    for message in [turn(0, &[block(1, 1)]), ended()] {
        assert!(!deliver(&mut waiting, &message));
        assert_eq!(lobby(&waiting), []);
    }
    let mut playing = playing(|_| ());
    let before = game(&playing);
    for message in [accepted(7, "Eve", "?"), started()] {
        assert!(!deliver(&mut playing, &message));
        assert_eq!(game(&playing), before);
    }
}

#[test]
fn second_hello_resets_the_client() {
    let mut client = playing(|_| ());
    assert!(deliver(&mut client, &hello(|parameters| parameters.size_x = 3)));
    assert_eq!(lobby(&client), []);
    assert_eq!(client.parameters().unwrap().size_x, 3);
    assert_eq!(client.own_player(), None);
}

#[test]
fn board_without_fields_is_tolerated() {
    let mut client = playing(|parameters| (parameters.size_x, parameters.size_y) = (0, 0));
    assert!(deliver(&mut client, &turn(1, &[block(0, 0), bomb(0, 0, 0)])));
    assert!(deliver(&mut client, &turn(2, &[boom(0, &[0], &[])])));
    assert_eq!((game(&client).blocks, game(&client).explosions), (vec![], vec![]));
}

#[test]
fn own_player_is_found_by_address_and_name() {
    let mut client = greeted(|_| ());
    for (number, name, address, own) in [
        (0, "Ann", "10.0.0.1:8", None),
        (1, "Bob", "10.0.0.1:7", None),
        (2, "Ann", "[::ffff:10.0.0.1]:7", Some(2)),
        (3, "Ann", "10.0.0.1", Some(2)),
    ] {
        assert!(deliver(&mut client, &accepted(number, name, address)));
        assert_eq!(client.own_player(), own.map(PlayerId));
    }
    let players = client.players().clone();
    assert!(!deliver(&mut client, &ServerMessage::GameStarted { players }));
    assert_eq!(client.own_player(), Some(id(2)));
    assert!(deliver(&mut client, &ServerMessage::GameEnded { scores: [].into() }));
    assert_eq!(client.own_player(), None);
}

#[test]
fn own_player_behind_nat_is_the_last_of_its_name() {
    let mut client = greeted(|_| ());
    assert!(deliver(&mut client, &accepted(0, "Ann", "192.0.2.1:7")));
    assert_eq!(client.own_player(), None, "nobody has joined yet");
    request(&mut client, Action::PlaceBomb);
    for (number, name, own) in [(1, "Bob", None), (2, "Ann", Some(2)), (3, "Ann", Some(3)), (4, "Bob", Some(3))] {
        assert!(deliver(&mut client, &accepted(number, name, "192.0.2.1:9")));
        assert_eq!(client.own_player(), own.map(PlayerId));
    }
    assert!(deliver(&mut client, &accepted(5, "Ann", "10.0.0.1:7")));
    assert!(deliver(&mut client, &accepted(6, "Ann", "192.0.2.1:9")));
    assert_eq!(client.own_player(), Some(id(5)));
}

#[test]
fn late_client_has_no_own_player() {
    let mut client = greeted(|_| ());
    request(&mut client, Action::PlaceBomb);
    let players = [(id(0), player("Ann", "192.0.2.1:7"))].into();
    assert!(!deliver(&mut client, &ServerMessage::GameStarted { players }));
    assert_eq!(client.own_player(), None);
}

#[test]
fn oversized_game_has_no_picture() {
    let mut client = playing(|parameters| (parameters.size_x, parameters.explosion_radius) = (65_535, 65_535));
    let empty = bytes(&client.picture().unwrap().unwrap()).len();
    let blocks = (MAX_DATAGRAM - empty) / 4;
    // The maximum number of blocks, in one row.
    let fitting: Vec<_> = (0..u16::try_from(blocks).unwrap()).map(|x| block(x, 1)).collect();
    assert!(deliver(&mut client, &turn(1, &fitting)));
    let picture = client.picture().unwrap().unwrap();
    assert!((MAX_DATAGRAM - 3..=MAX_DATAGRAM).contains(&bytes(&picture).len()));
    assert!(deliver(&mut client, &turn(2, &[block(0, 2)])));
    assert!(client.picture().unwrap().unwrap_err().bytes > MAX_DATAGRAM);
    // An explosion may cover too many fields.
    assert!(deliver(
        &mut client,
        &turn(3, &[boom(9, &[], &[at(0, 2), at(0, 1), at(1, 1), at(2, 1), at(3, 1)]), bomb(0, 0, 0)])
    ));
    assert!(client.picture().unwrap().is_ok());
    assert!(deliver(&mut client, &turn(4, &[boom(0, &[], &[])])));
    assert!(client.picture().unwrap().unwrap_err().bytes > MAX_DATAGRAM);
    assert!(deliver(&mut client, &turn(5, &[])));
    assert!(client.picture().unwrap().is_ok());
}

#[test]
fn oversized_lobby_has_no_picture() {
    let mut client = greeted(|_| ());
    let (name, mut too_large) = ("x".repeat(255), None);
    for number in 0..=255 {
        assert!(deliver(&mut client, &accepted(number, &name, &name)));
        match client.picture().unwrap() {
            Ok(picture) => assert!(too_large.is_none() && bytes(&picture).len() <= MAX_DATAGRAM),
            Err(error) => {
                assert!(error.bytes > MAX_DATAGRAM);
                too_large.get_or_insert(number);
            }
        }
    }
    assert_eq!(too_large, Some(127));
}

#[test]
fn large_turn_takes_time_per_byte() {
    let mut client = playing(|parameters| {
        (parameters.size_x, parameters.size_y, parameters.explosion_radius) = (65_535, 65_535, 65_535);
    });
    let placed: Vec<_> = (0..60_000_u16).map(|at| bomb(at.into(), at, at)).collect();
    assert!(deliver(&mut client, &turn(1, &placed)));
    let gone: Vec<_> = (0..60_000).map(|at| boom(at, &[0], &[])).collect();
    assert!(deliver(&mut client, &turn(2, &gone)));
    assert!(client.picture().unwrap().is_err());
    assert_eq!(client.game().unwrap().scores()[&id(0)], 1);
}

const NOW: Time = Time::ZERO;

fn stream(messages: &[ServerMessage]) -> Vec<u8> {
    messages.iter().flat_map(bytes).collect()
}

fn beginning() -> Vec<u8> {
    stream(&[
        ServerMessage::Hello(config().parameters),
        ServerMessage::GameStarted { players: [].into() },
        ServerMessage::Turn { turn: 0, events: vec![] },
        ServerMessage::Turn { turn: 1, events: vec![] },
    ])
}

#[test]
fn client_decodes_bytes_in_any_pieces() {
    let bytes = beginning();
    for size in 1..=bytes.len() {
        let mut client = Client::new(text("Ann"), None);
        client.act(NOW, Action::PlaceBlock);
        assert_eq!(client.take_outgoing().as_deref(), Some(&b"\0\x03Ann"[..]));
        for piece in bytes.chunks(size) {
            client.receive(NOW, piece).unwrap();
        }
        assert_eq!(client.game().unwrap().turn(), 1);
        client.act(NOW, Action::PlaceBlock);
        client.act(NOW, Action::Move(Direction::Left));
        let out = || client.take_outgoing();
        assert_eq!(std::iter::from_fn(out).collect::<Vec<_>>(), [&[2][..], &[3, 3]]);
        assert_eq!((client.deadline(NOW), client.is_over()), (None, false));
    }
}

#[test]
fn each_message_can_be_shown_separately() {
    let mut client = Client::new(text("Ann"), None);
    client.feed(&beginning());
    let mut due = vec![];
    while let Some(event) = client.poll_event().unwrap() {
        due.push(event.is_picture_due());
    }
    assert_eq!(due, [true, false, true, true]);
    assert!(!client.incoming().is_within_message());
}

#[test]
fn malformed_bytes_end_the_client_with_their_offset() {
    let mut client = Client::new(text("Ann"), None);
    let bytes = [beginning(), vec![3, 0, 2, 0, 0, 0, 1, 9]].concat();
    client.act(NOW, Action::PlaceBomb);
    let wrong = client.receive(NOW, &bytes).unwrap_err();
    let place = format!("byte {} of the stream (byte 7 of message 5, a Turn): 9 is no tag of Event", bytes.len() - 1);
    assert!(wrong.to_string().starts_with(&place), "{wrong}");
    assert_eq!(client.game().unwrap().turn(), 1, "what came before counts");
    assert!(client.is_over() && client.take_outgoing().is_none());
    assert_eq!(client.receive(NOW, &[9, 9]), Ok(()));
    client.act(NOW, Action::PlaceBomb);
    assert!(client.take_outgoing().is_none());
}

#[test]
fn client_is_silent_after_the_end() {
    let mut client = Client::new(text("Ann"), None);
    client.receive(NOW, &beginning()).unwrap();
    client.act(NOW, Action::PlaceBomb);
    client.disconnected(NOW, DisconnectReason::Broken);
    client.receive(NOW, &stream(&[ServerMessage::GameEnded { scores: [].into() }])).unwrap();
    assert!(client.is_over() && client.take_outgoing().is_none());
    assert!(client.game().is_some(), "it shows what it showed");
}

#[test]
fn full_outgoing_queue_replaces_its_newest_message() {
    let mut client = Client::new(text("Ann"), None);
    client.receive(NOW, &beginning()).unwrap();
    for _ in 0..10_000 {
        client.act(NOW, Action::PlaceBomb);
    }
    client.act(NOW, Action::PlaceBlock);
    let all: Vec<_> = std::iter::from_fn(|| client.take_outgoing()).collect();
    assert_eq!((all.len(), &all[all.len() - 1][..]), (MAX_OUTGOING, &[2][..]));
}
