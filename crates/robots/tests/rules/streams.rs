//! Any message, whole, cut, cut off and damaged.

use std::fmt::Debug;

use bytes::BytesMut;
use netcore::{
    DecodeError, Protocol,
    wire::{Decode, Encode, ShortText, read_datagram, take_message},
};
use proptest::{collection::vec, prelude::*};
use robots::{
    Action, Bomb, BombId, ClientMessage, Direction, DrawMessage, Event, GamePicture, InputMessage, Parameters, Player,
    PlayerId, Position, ServerMessage,
    protocol::{MAX_SERVER_ITEMS, MAX_SERVER_MESSAGE, Robots, ServerDecoder, encode},
};

pub(crate) fn bytes<T: Encode>(message: &T) -> BytesMut {
    let mut out = BytesMut::new();
    encode(message, &mut out);
    out
}

fn text() -> impl Strategy<Value = ShortText> {
    prop_oneof!["[a-zżółć\\x00]{0,12}", "x{250,255}"].prop_map(|text| ShortText::try_from(text).unwrap())
}

fn position() -> impl Strategy<Value = Position> {
    any::<(u16, u16)>().prop_map(|(x, y)| Position::new(x, y))
}

fn player() -> impl Strategy<Value = Player> {
    (text(), text()).prop_map(|(name, address)| Player { name, address })
}

fn players() -> impl Strategy<Value = std::collections::BTreeMap<PlayerId, Player>> {
    prop::collection::btree_map(any::<u8>().prop_map(PlayerId), player(), 0..5)
}

fn scores() -> impl Strategy<Value = std::collections::BTreeMap<PlayerId, u32>> {
    prop::collection::btree_map(any::<u8>().prop_map(PlayerId), any::<u32>(), 0..5)
}

fn parameters() -> impl Strategy<Value = Parameters> {
    (text(), any::<(u8, u16, u16, u16, u16, u16)>()).prop_map(
        |(server_name, (players_count, size_x, size_y, game_length, explosion_radius, bomb_timer))| Parameters {
            server_name,
            players_count,
            size_x,
            size_y,
            game_length,
            explosion_radius,
            bomb_timer,
        },
    )
}

pub(crate) fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        Just(Action::PlaceBomb),
        Just(Action::PlaceBlock),
        prop::sample::select(&Direction::ALL[..]).prop_map(Action::Move)
    ]
}

fn client_message() -> impl Strategy<Value = ClientMessage> {
    prop_oneof![text().prop_map(|name| ClientMessage::Join { name }), action().prop_map(ClientMessage::Action)]
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (any::<u32>(), position()).prop_map(|(id, position)| Event::BombPlaced { id: BombId(id), position }),
        (any::<u32>(), vec(any::<u8>().prop_map(PlayerId), 0..4), vec(position(), 0..5)).prop_map(
            |(id, robots_destroyed, blocks_destroyed)| Event::BombExploded {
                id: BombId(id),
                robots_destroyed,
                blocks_destroyed
            }
        ),
        (any::<u8>(), position()).prop_map(|(id, position)| Event::PlayerMoved { id: PlayerId(id), position }),
        position().prop_map(|position| Event::BlockPlaced { position }),
    ]
}

fn server_message() -> impl Strategy<Value = ServerMessage> {
    prop_oneof![
        parameters().prop_map(ServerMessage::Hello),
        (any::<u8>(), player()).prop_map(|(id, player)| ServerMessage::AcceptedPlayer { id: PlayerId(id), player }),
        players().prop_map(|players| ServerMessage::GameStarted { players }),
        (any::<u16>(), vec(event(), 0..9)).prop_map(|(turn, events)| ServerMessage::Turn { turn, events }),
        scores().prop_map(|scores| ServerMessage::GameEnded { scores }),
    ]
}

fn bomb() -> impl Strategy<Value = Bomb> {
    (position(), any::<u16>()).prop_map(|(position, timer)| Bomb { position, timer })
}

fn draw_message() -> impl Strategy<Value = DrawMessage> {
    let game = (
        (parameters(), any::<u16>(), players(), scores()),
        (vec(position(), 0..5), vec(bomb(), 0..5), vec(position(), 0..5)),
    );
    let game = game.prop_map(|((parameters, turn, players, scores), (blocks, bombs, explosions))| {
        let Parameters { server_name, size_x, size_y, game_length, .. } = parameters;
        let player_positions = players.keys().copied().zip(blocks.clone()).collect();
        DrawMessage::Game(GamePicture {
            server_name,
            size_x,
            size_y,
            game_length,
            turn,
            players,
            player_positions,
            blocks,
            bombs,
            explosions,
            scores,
        })
    });
    let lobby = (parameters(), players()).prop_map(|(parameters, players)| DrawMessage::Lobby { parameters, players });
    prop_oneof![lobby, game]
}

// What is written is read, and the front of it is the front of a message and nothing else.
fn check<T: Encode + Decode + PartialEq + Debug>(message: &T) {
    let mut whole = bytes(message);
    assert_eq!(read_datagram::<T>(&whole, 1_000).as_ref(), Ok(message));
    for end in 0..whole.len() {
        assert_eq!(read_datagram::<T>(&whole[..end], 1_000), Err(DecodeError::Incomplete));
    }
    let at = whole.len();
    whole.extend_from_slice(&[0, 0]);
    assert_eq!(read_datagram::<T>(&whole, 1_000), Err(DecodeError::Trailing { at, extra: 2 }));
}

// A stream gives the same messages however it is cut, and none before its last byte is there.
fn check_stream<T: Encode + PartialEq + Debug>(
    messages: &[T],
    step: usize,
    mut decode: impl FnMut(&mut BytesMut) -> Result<Option<T>, DecodeError>,
) {
    let ends: Vec<usize> = messages
        .iter()
        .scan(0, |sum, message| {
            *sum += bytes(message).len();
            Some(*sum)
        })
        .collect();
    let stream: Vec<u8> = messages.iter().flat_map(|message| bytes(message).to_vec()).collect();
    let (mut buffer, mut got, mut fed) = (BytesMut::new(), vec![], 0);
    for piece in stream.chunks(step) {
        buffer.extend_from_slice(piece);
        fed += piece.len();
        while let Some(message) = decode(&mut buffer).unwrap() {
            got.push(message);
        }
        assert_eq!(got.len(), ends.iter().filter(|&&end| end <= fed).count());
    }
    assert_eq!(got, messages);
    assert!(buffer.is_empty());
}

/// The next message of a client, whatever follows it.
pub(crate) fn one_by_one(buffer: &mut BytesMut) -> Result<Option<ClientMessage>, DecodeError> {
    take_message(buffer, Robots::MAX_MESSAGE, 0)
}

proptest! {
    #[test]
    fn every_message_survives_and_no_part_of_it_does(
        client in client_message(), server in server_message(), input in action(), draw in draw_message()
    ) {
        check(&client);
        check(&server);
        check::<InputMessage>(&input);
        check(&draw);
    }

    #[test]
    fn a_clients_stream_reads_the_same_however_it_is_cut(messages in vec(client_message(), 0..9), step in 1..40usize) {
        check_stream(&messages, step, one_by_one);
    }

    #[test]
    fn a_servers_stream_reads_the_same_however_it_is_cut(messages in vec(server_message(), 0..9), step in 1..40usize) {
        let mut decoder = ServerDecoder::default();
        check_stream(&messages, step, |buffer| decoder.decode(buffer));
    }

    #[test]
    fn the_stream_and_the_datagram_agree_about_any_bytes(junk in vec(prop_oneof![0..6_u8, any::<u8>()], 0..60)) {
        let read = read_datagram::<ServerMessage>(&junk, MAX_SERVER_ITEMS);
        let mut decoder = ServerDecoder::default();
        let mut got = Ok(None);
        let mut buffer = BytesMut::new();
        for &byte in &junk {
            buffer.extend_from_slice(&[byte]);
            got = decoder.decode(&mut buffer);
            if got != Ok(None) {
                break;
            }
        }
        match read {
            Ok(message) => prop_assert_eq!(got, Ok(Some(message))),
            Err(DecodeError::Incomplete) => prop_assert_eq!(got, Ok(None)),
            Err(DecodeError::Trailing { at, .. }) => {
                let front = read_datagram::<ServerMessage>(&junk[..at], MAX_SERVER_ITEMS);
                prop_assert_eq!(got, front.map(Some));
            }
            Err(error) => prop_assert_eq!(got, Err(error)),
        }
    }
}

#[test]
fn a_wrong_tag_is_told_with_its_place() {
    let unknown = DecodeError::unknown_tag;
    for tag in 4..=255 {
        assert_eq!(read_datagram::<ClientMessage>(&[tag], 0), Err(unknown("ClientMessage", tag, 0)));
        assert_eq!(read_datagram::<ClientMessage>(&[3, tag], 0), Err(unknown("Direction", tag, 1)));
        assert_eq!(read_datagram::<InputMessage>(&[tag - 1], 0), Err(unknown("InputMessage", tag - 1, 0)));
        assert_eq!(read_datagram::<InputMessage>(&[2, tag], 0), Err(unknown("Direction", tag, 1)));
        let event = [3, 0, 1, 0, 0, 0, 2, 3, 0, 1, 0, 2, tag];
        assert_eq!(read_datagram::<ServerMessage>(&event, 9), Err(unknown("Event", tag, 12)));
        let mut decoder = ServerDecoder::default();
        assert_eq!(decoder.decode(&mut BytesMut::from(&event[..])), Err(unknown("Event", tag, 12)));
    }
    for tag in 5..=255 {
        assert_eq!(read_datagram::<ServerMessage>(&[tag], 0), Err(unknown("ServerMessage", tag, 0)));
        assert_eq!(
            ServerDecoder::default().decode(&mut BytesMut::from(&[tag][..])),
            Err(unknown("ServerMessage", tag, 0))
        );
        assert_eq!(read_datagram::<DrawMessage>(&[tag - 3], 0), Err(unknown("DrawMessage", tag - 3, 0)));
    }
}

#[test]
fn a_name_that_is_not_utf8_is_told_with_its_place() {
    let wrong = [0, 3, b'a', 0xff, b'b'];
    assert_eq!(read_datagram::<ClientMessage>(&wrong, 0), Err(DecodeError::NotUtf8 { at: 3 }));
    let stream = Robots::take(&mut (), &mut BytesMut::from(&wrong[..]));
    assert_eq!(stream, Err(DecodeError::NotUtf8 { at: 3 }));
}

#[test]
fn messages_before_the_wrong_byte_are_read() {
    let mut buffer = BytesMut::from(&[1, 3, 2, 0, 1, b'x', 9][..]);
    let mut next = || Robots::take(&mut (), &mut buffer);
    assert_eq!(next(), Ok(Some(ClientMessage::Action(Action::Move(Direction::Down)))));
    assert_eq!(next(), Ok(Some(ClientMessage::Join { name: ShortText::try_from("x").unwrap() })));
    assert!(next().is_err());
}

#[test]
fn the_longest_join_fits_and_nothing_longer_can_be_said() {
    let mut join = BytesMut::from(&[0, 255][..]);
    join.extend_from_slice(&[b'x'; 255]);
    assert_eq!(join.len(), Robots::MAX_MESSAGE);
    for end in 0..join.len() {
        assert_eq!(Robots::take(&mut (), &mut BytesMut::from(&join[..end])), Ok(None));
    }
    assert!(matches!(Robots::take(&mut (), &mut join), Ok(Some(ClientMessage::Join { .. }))));
}

#[test]
fn counts_are_bounded() {
    let mut buffer = BytesMut::from(&[3, 0, 0, 0xff, 0xff, 0xff, 0xff][..]);
    let refused = DecodeError::TooMany { at: 3, count: u32::MAX, max: MAX_SERVER_ITEMS };
    assert_eq!(ServerDecoder::default().decode(&mut buffer), Err(refused));
    // There are 256 ids of players, and a map names each once.
    for tag in [2, 4] {
        assert_eq!(ServerDecoder::default().decode(&mut BytesMut::from(&[tag, 0, 0, 1, 0][..])), Ok(None));
        let refused = DecodeError::TooMany { at: 1, count: 257, max: 256 };
        assert_eq!(ServerDecoder::default().decode(&mut BytesMut::from(&[tag, 0, 0, 1, 1][..])), Err(refused.clone()));
        assert_eq!(read_datagram::<ServerMessage>(&[tag, 0, 0, 1, 1], MAX_SERVER_ITEMS), Err(refused));
    }
    // The count of an inner list, behind two events of a turn.
    let mut buffer =
        BytesMut::from(&[3, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 3, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0xff, 0, 0, 0][..]);
    let refused = DecodeError::TooMany { at: 22, count: 0xff00_0000, max: MAX_SERVER_ITEMS };
    assert_eq!(ServerDecoder::default().decode(&mut buffer), Err(refused));
}

#[test]
fn a_turn_without_end_is_refused_at_its_bound() {
    let mut decoder = ServerDecoder::default();
    let mut buffer = BytesMut::from(&[3, 0, 0, 0, 0x10, 0, 0][..]);
    assert_eq!(decoder.decode(&mut buffer), Ok(None));
    let mut fed = buffer.len();
    let error = loop {
        buffer.extend_from_slice(&[3, 0, 0, 0, 0].repeat(1_000));
        fed += 5_000;
        match decoder.decode(&mut buffer) {
            Ok(message) => assert!(message.is_none() && fed <= MAX_SERVER_MESSAGE + 5_000),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, DecodeError::TooLong { max: MAX_SERVER_MESSAGE, .. }), "{error}");
}

#[test]
fn the_longest_turn_of_a_rule_abiding_server_fits_byte_by_byte() {
    let events: Vec<Event> = (0..65_535_u16).map(|x| Event::BlockPlaced { position: Position::new(x, 7) }).collect();
    let turn = ServerMessage::Turn { turn: 0, events };
    let (mut decoder, mut buffer, mut got) = (ServerDecoder::default(), BytesMut::new(), None);
    for &byte in &bytes(&turn) {
        assert!(got.is_none());
        buffer.extend_from_slice(&[byte]);
        got = decoder.decode(&mut buffer).unwrap();
        assert_eq!(got.is_none(), decoder.is_within_message(&buffer));
    }
    assert_eq!(got, Some(turn));
}
