//! Test vectors for the page's copy of these rules: messages, blasts, and the client's state.

#[path = "../../../arcade/web/test/vectors/check.rs"]
mod vectors;

use std::collections::BTreeMap;

use netcore::{
    Client as _, Time,
    wire::{ShortText, read_datagram},
};
use robots::{
    Action, Blast, Board, BombId, Client, ClientMessage, Direction, DrawMessage, Event, Parameters, Player, PlayerId,
    Position, ServerMessage,
};
use serde_json::{Value, json};

use crate::{
    build::{at, block, bomb, boom, moved, turn},
    streams::bytes,
    table::text,
};

/// More than in any list here.
const ITEMS: u32 = 1_000;

#[test]
fn the_page_has_the_same_rules() {
    let all = json!({ "server": server(), "client": client(), "blasts": blasts(), "stories": [lobby(), game()] });
    vectors::check("robots", &all);
}

fn player(name: &str) -> Player {
    Player { name: text(name), address: text("[::1]:4000") }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

const fn parameters(server_name: ShortText) -> Parameters {
    Parameters {
        server_name,
        players_count: 3,
        size_x: 7,
        size_y: 5,
        game_length: 300,
        explosion_radius: 2,
        bomb_timer: 3,
    }
}

fn server() -> Value {
    let events = [bomb(258, 1, 0), boom(7, &[0, 255], &[at(0, 1), at(65_535, 2)]), moved(3, 6, 4), block(2, 2)];
    let valid = [
        ServerMessage::Hello(parameters(text("Zażółć"))),
        ServerMessage::Hello(Parameters { size_x: 65_535, game_length: 0, ..parameters(text("")) }),
        ServerMessage::AcceptedPlayer { id: PlayerId(254), player: player("") },
        ServerMessage::GameStarted { players: [(PlayerId(0), player("Ann")), (PlayerId(9), player("ó"))].into() },
        ServerMessage::GameStarted { players: BTreeMap::new() },
        turn(0, &[]),
        turn(300, &events),
        ServerMessage::GameEnded { scores: [(PlayerId(0), 3), (PlayerId(1), 70_000)].into() },
    ];
    let mut invalid = vec![
        "05".to_owned(),
        "03 00 02 ff ff ff ff".to_owned(),
        "00 01 ff 03 00 07 00 05 01 2c 00 02 00 03".to_owned(),
    ];
    let valid = valid.map(|message| {
        let bytes = bytes(&message);
        assert_eq!(read_datagram::<ServerMessage>(&bytes, ITEMS).unwrap(), message);
        invalid.push(hex(&bytes[..bytes.len() - 1]));
        invalid.push(format!("{} 00", hex(&bytes)));
        json!({ "hex": hex(&bytes), "message": message_json(&message) })
    });
    for text in &invalid {
        let bytes: Vec<u8> = text.split(' ').map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert!(read_datagram::<ServerMessage>(&bytes, ITEMS).is_err(), "{text}");
    }
    json!({ "valid": valid, "invalid": invalid })
}

fn message_json(message: &ServerMessage) -> Value {
    match message {
        ServerMessage::Hello(hello) => json!({
            "kind": "hello",
            "settings": {
                "name": &*hello.server_name,
                "players": hello.players_count,
                "width": hello.size_x,
                "height": hello.size_y,
                "length": hello.game_length,
                "radius": hello.explosion_radius,
                "timer": hello.bomb_timer,
            },
        }),
        ServerMessage::AcceptedPlayer { id, player } => {
            json!({ "kind": "accepted", "id": id.0, "player": player_json(player) })
        }
        ServerMessage::GameStarted { players } => {
            let players: Vec<_> = players.iter().map(|(id, player)| json!([id.0, player_json(player)])).collect();
            json!({ "kind": "started", "players": players })
        }
        ServerMessage::Turn { turn, events } => {
            json!({ "kind": "turn", "turn": turn, "events": events.iter().map(event_json).collect::<Vec<_>>() })
        }
        ServerMessage::GameEnded { scores } => {
            json!({ "kind": "ended", "scores": of_players(scores, |score| json!(score)) })
        }
    }
}

fn player_json(player: &Player) -> Value {
    json!({ "name": &*player.name, "address": &*player.address })
}

fn event_json(event: &Event) -> Value {
    match event {
        Event::BombPlaced { id, position } => json!({ "kind": "bombPlaced", "id": id.0, "position": field(*position) }),
        Event::BombExploded { id, robots_destroyed, blocks_destroyed } => json!({
            "kind": "bombExploded",
            "id": id.0,
            "robots": robots_destroyed.iter().map(|id| id.0).collect::<Vec<_>>(),
            "blocks": blocks_destroyed.iter().map(|&block| field(block)).collect::<Vec<_>>(),
        }),
        Event::PlayerMoved { id, position } => {
            json!({ "kind": "playerMoved", "id": id.0, "position": field(*position) })
        }
        Event::BlockPlaced { position } => json!({ "kind": "blockPlaced", "position": field(*position) }),
    }
}

fn of_players<T>(map: &BTreeMap<PlayerId, T>, value: impl Fn(&T) -> Value) -> Vec<Value> {
    map.iter().map(|(id, one)| json!([id.0, value(one)])).collect()
}

fn field(position: Position) -> Value {
    json!({ "x": position.x, "y": position.y })
}

fn place(position: Position) -> String {
    format!("{},{}", position.x, position.y)
}

fn client() -> Value {
    let join = |name: &str| hex(&bytes(&ClientMessage::Join { name: text(name) }));
    let act = |action| hex(&bytes(&ClientMessage::Action(action)));
    json!({
        "join": { "Ann": join("Ann"), "": join(""), "Żółć!": join("Żółć!") },
        "bomb": act(Action::PlaceBomb),
        "block": act(Action::PlaceBlock),
        "moves": {
            "up": act(Action::Move(Direction::Up)),
            "right": act(Action::Move(Direction::Right)),
            "down": act(Action::Move(Direction::Down)),
            "left": act(Action::Move(Direction::Left)),
        },
    })
}

fn blasts() -> Value {
    let mut below = vectors::numbers(11);
    let mut some = |end: usize| u16::try_from(below(end)).unwrap();
    let mut all = vec![];
    for _ in 0..60 {
        let (width, height, radius) = (1 + some(9), 1 + some(7), some(5));
        let mut board = Board::new(width, height);
        for _ in 0..some(12) {
            board.put_block(Position::new(some(width.into()), some(height.into())));
        }
        let center = Position::new(some(width.into()), some(height.into()));
        let blast = Blast::new(&board, center, radius);
        all.push(json!({
            "width": width,
            "height": height,
            "radius": radius,
            "blocks": board.blocks().map(place).collect::<Vec<_>>().join(" "),
            "at": field(center),
            "covers": blast.cells().map(place).collect::<Vec<_>>().join(" "),
        }));
    }
    all.into()
}

fn story(name: &str, messages: impl IntoIterator<Item = ServerMessage>) -> Value {
    let mut client = Client::new(text("Ann"), None);
    let mut steps = vec![];
    for message in messages {
        let frame = bytes(&message);
        client.receive(Time::ZERO, &frame).unwrap();
        steps.push(json!({ "hex": hex(&frame), "known": client_json(&client) }));
    }
    json!({ "name": name, "steps": steps })
}

fn client_json(client: &Client) -> Value {
    let sorted = |mut places: Vec<String>| {
        places.sort();
        places.join(" ")
    };
    let game = match client.picture().unwrap().unwrap() {
        DrawMessage::Lobby { .. } => Value::Null,
        DrawMessage::Game(game) => json!({
            "turn": game.turn,
            "positions": of_players(&game.player_positions, |&position| field(position)),
            "scores": of_players(&game.scores, |score| json!(score)),
            "blocks": sorted(game.blocks.into_iter().map(place).collect()),
            "bombs": sorted(game.bombs.iter().map(|bomb| format!("{}:{}", place(bomb.position), bomb.timer)).collect()),
            "blasts": sorted(game.explosions.into_iter().map(place).collect()),
        }),
    };
    json!({ "players": of_players(client.players(), |player| json!(&*player.name)), "game": game })
}

fn lobby() -> Value {
    let accepted = |id, name| ServerMessage::AcceptedPlayer { id: PlayerId(id), player: player(name) };
    let hello = || ServerMessage::Hello(parameters(text("here")));
    story(
        "players gather, and come anew",
        [hello(), accepted(0, "Ann"), accepted(1, "Bob"), hello(), accepted(0, "Bob")],
    )
}

// Robots act at random; bombs explode when their timers expire.
fn game() -> Value {
    let settings = parameters(text("here"));
    let (columns, rows) = (usize::from(settings.size_x), usize::from(settings.size_y));
    let mut below = vectors::numbers(5);
    let mut anywhere = move || (u16::try_from(below(columns)).unwrap(), u16::try_from(below(rows)).unwrap(), below(3));
    let players: BTreeMap<_, _> = (0..3).map(|id| (PlayerId(id), player("Ann"))).collect();
    let mut board = Board::new(settings.size_x, settings.size_y);
    let mut robots: BTreeMap<PlayerId, Position> = BTreeMap::new();
    let mut bombs: BTreeMap<BombId, (Position, u16)> = BTreeMap::new();
    let mut scores: BTreeMap<PlayerId, u32> = players.keys().map(|&id| (id, 0)).collect();
    let mut messages = vec![ServerMessage::Hello(settings.clone()), ServerMessage::GameStarted { players }];
    for turn in 0..24 {
        let mut events = vec![];
        let due: Vec<_> = bombs.iter().filter(|(_, (_, due))| *due == turn).map(|(&id, &(at, _))| (id, at)).collect();
        let (mut destroyed, mut gone) = (vec![], vec![]);
        for (id, at) in due {
            let blast = Blast::new(&board, at, settings.explosion_radius);
            let robots_destroyed: Vec<_> =
                robots.iter().filter(|(_, at)| blast.contains(**at)).map(|(&id, _)| id).collect();
            destroyed.extend(robots_destroyed.iter().copied());
            gone.extend(blast.blocks());
            bombs.remove(&id);
            events.push(Event::BombExploded { id, robots_destroyed, blocks_destroyed: blast.blocks().collect() });
        }
        for block in gone {
            board.remove_block(block);
        }
        destroyed.sort();
        destroyed.dedup();
        for id in (0..3).map(PlayerId) {
            let (x, y, deed) = anywhere();
            let position = robots.get(&id).copied().filter(|_| !destroyed.contains(&id));
            match (position, deed) {
                (Some(position), 0) => {
                    let bomb = BombId(u32::from(turn) * 3 + u32::from(id.0));
                    bombs.insert(bomb, (position, turn + settings.bomb_timer));
                    events.push(Event::BombPlaced { id: bomb, position });
                }
                (Some(position), 1) => {
                    if board.put_block(position) {
                        events.push(Event::BlockPlaced { position });
                    }
                }
                _ => {
                    robots.insert(id, Position::new(x, y));
                    events.push(Event::PlayerMoved { id, position: Position::new(x, y) });
                }
            }
        }
        for id in destroyed {
            *scores.entry(id).or_default() += 1;
        }
        messages.push(ServerMessage::Turn { turn, events });
    }
    messages.push(ServerMessage::GameEnded { scores });
    story("a game in which anything happens", messages)
}
