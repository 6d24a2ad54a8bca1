use super::*;
use proptest::prelude::*;

#[test]
fn client_messages_are_decoded_exactly() {
    let play = |name: &[u8]| ClientMessage::Play(Name::new(name).ok());
    let cases: [(&[u8], ClientMessage); 8] = [
        (b"PLAY Ann Lee ", play(b"Ann Lee ")),
        (b"PLAY  Ann", play(b" Ann")),
        (b"PLAY ", ClientMessage::Play(None)),
        (b"PLAY \n\x0b", ClientMessage::Play(None)),
        (b"SPECTATE", ClientMessage::Spectate),
        (b"KEY h", ClientMessage::Key(b'h')),
        (b"KEY  ", ClientMessage::Key(b' ')),
        (b"KEY \0", ClientMessage::Key(0)),
    ];
    for (datagram, message) in cases {
        assert_eq!(ClientMessage::parse(datagram), Ok(message));
    }
}

#[test]
fn server_messages_may_have_the_additional_spaces_of_other_servers() {
    let letter = |index| Letter::from_index(index).unwrap();
    let cases: [(ServerMessage<'_>, &[&[u8]]); 6] = [
        (ServerMessage::Ok(letter(0)), &[b"OK A", b"OK A\n"]),
        (
            ServerMessage::Grid { rows: 21, cols: 79 },
            &[b"GRID 21 79", b"GRID 21 79\n", b"GRID  21  79 ", b"GRID 21 79\0", b"GRID 21 79 \r\n"],
        ),
        (ServerMessage::Gold { collected: 3, purse: 12, remaining: 0 }, &[b"GOLD 3 12 0"]),
        (ServerMessage::Display(b"..\n"), &[b"DISPLAY\n..\n"]),
        (ServerMessage::Quit(b"Thanks for playing!"), &[b"QUIT Thanks for playing!", b"QUIT Thanks for playing!\n"]),
        (ServerMessage::Error(b"unknown keystroke"), &[b"ERROR unknown keystroke"]),
    ];
    for (message, datagrams) in cases {
        assert_eq!(message.to_bytes(), datagrams[0]);
        for datagram in datagrams {
            assert_eq!(ServerMessage::parse(datagram).as_ref(), Ok(&message), "{datagram:?}");
        }
    }
    assert_eq!(ServerMessage::parse(b"QUIT bye\n"), Ok(ServerMessage::Quit(b"bye")));
    assert_eq!(ServerMessage::parse(b"QUIT"), Ok(ServerMessage::Quit(b"")));
    assert_eq!(ServerMessage::parse(b"QUIT\nbye"), Ok(ServerMessage::Quit(b"\nbye")));
    let all: String = (0..30).filter_map(Letter::from_index).map(|letter| letter.to_string()).collect();
    assert_eq!(all, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
}

#[test]
fn malformed_server_messages_are_rejected() {
    let list = "/OK/OK a/OK AB/GRID/GRID 1/GRID -1 5/GRID 1 2 3/GRID 0 5/GRID 65535 65535/GOLD 1 2/\
                GOLD 1 2 99999999999/DISPLAY ...";
    for datagram in list.split('/') {
        assert!(ServerMessage::parse(datagram.as_bytes()).is_err(), "{datagram:?}");
    }
}

proptest! {
    #[test]
    fn client_messages_round_trip(typed in prop::collection::vec(any::<u8>(), 0..80), key in any::<u8>()) {
        for message in [ClientMessage::Play(Name::new(&typed).ok()), ClientMessage::Spectate, ClientMessage::Key(key)] {
            let again = ClientMessage::parse(&message.to_bytes());
            // Only a name that is blank after the cut does not survive a second cleaning.
            let blank = matches!(&message, ClientMessage::Play(Some(name)) if name.as_str().trim().is_empty());
            prop_assert!(blank || again == Ok(message));
        }
    }

    #[test]
    fn server_messages_round_trip(collected in any::<u32>(), purse in any::<u32>(), rows in 1..200u16) {
        for message in [
            ServerMessage::Gold { collected, purse, remaining: 7 },
            ServerMessage::Grid { rows, cols: 80 },
        ] {
            let bytes = message.to_bytes();
            prop_assert_eq!(ServerMessage::parse(&bytes), Ok(message));
        }
    }
}
