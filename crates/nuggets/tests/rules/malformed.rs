//! Datagrams that are no messages: they change nothing, and at most their sender hears of it.

use nuggets::Rules;

use crate::table::{Said, Table, told};

fn malformed() -> Vec<Vec<u8>> {
    let mut list: Vec<Vec<u8>> = [
        &b""[..],
        b"\0",
        b"\0\0\0\0",
        b" ",
        b"\n",
        b"\r\n",
        b"SPECTATE ",
        b"SPECTATE\0",
        b"SPECTATE\n",
        b"SPECTATE please",
        b"SPECTATEX",
        b"Spectate",
        b"PLAY",
        b"PLAY\n",
        b"PLAYAlice",
        b"PLAY\tAlice",
        b"PLAY\0Alice",
        b" PLAY Alice",
        b"KEY",
        b"KEY ",
        b"KEYl",
        b"KEY ll",
        b"KEY l\n",
        b"KEY l\0",
        b"KEY  l",
        b"KEY\nl",
        b"KEY QQ",
        b"KEY Q ",
        b"key l",
        b"Key l",
        b"l",
        b"Q",
        b"play Alice",
        b"OK A",
        b"GRID 1 1",
        b"GOLD 1 1 1",
        b"DISPLAY\n...\n",
        b"QUIT",
        b"QUIT Q",
        b"ERROR oops",
        b"%s%s%s%n",
        b"KEY %n",
        b"\xff\xfe\xfd",
        b"\x1b[2J\x1b]0;title\x07",
        b"GET / HTTP/1.1\r\n\r\n",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    list.push(vec![b'x'; 65_507]);
    list.push([&b"KEY "[..], &vec![b'l'; 65_503]].concat());
    list.push([&b"SPECTATE"[..], &vec![0; 65_499]].concat());
    list
}

// What a server would say is the one kind of rubbish that is not answered.
fn is_answered(datagram: &[u8]) -> bool {
    let word = datagram.split(|&byte| byte == b' ' || byte == b'\n').next().unwrap_or_default();
    ![&b"OK"[..], b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"].contains(&word)
}

#[test]
fn a_player_gets_an_error_and_stays() {
    let mut table = Table::drawn(Rules::default(), "A.B.4");
    table.send("Sam", "SPECTATE");
    table.keys("Alice", "l");
    let (before, board) = (table.game().digest(), table.board());
    for datagram in malformed() {
        let said = table.send("Alice", &datagram);
        let told = told(&said, "Alice");
        assert_eq!(said.len(), usize::from(is_answered(&datagram)), "{datagram:?}: {said:?}");
        assert!(told.iter().all(|answer| answer.starts_with("ERROR malformed message: ")), "{datagram:?}: {said:?}");
    }
    assert_eq!((table.game().digest(), table.board()), (before, board));
    table.check(
        "
        Alice > KEY h
            Alice < DISPLAY [@.B.*]
            Bob < DISPLAY [A.@.*]
            Sam < DISPLAY [A.B.*]
        ",
    );
}

#[test]
fn a_spectator_gets_an_error_and_stays() {
    let mut table = Table::drawn(Rules::default(), "A.4");
    table.send("Sam", "SPECTATE");
    for datagram in malformed() {
        let said = table.send("Sam", &datagram);
        let told = told(&said, "Sam");
        assert_eq!(said.len(), usize::from(is_answered(&datagram)), "{datagram:?}: {said:?}");
        assert!(told.iter().all(|answer| answer.starts_with("ERROR malformed message: ")), "{datagram:?}: {said:?}");
    }
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@*]
            Sam < DISPLAY [.A*]
        ",
    );
}

#[test]
fn a_stranger_gets_an_error_and_is_forgotten() {
    let mut table = Table::drawn(Rules::default(), "A.4");
    table.send("Sam", "SPECTATE");
    let before = table.game().digest();
    for datagram in malformed() {
        let said = table.send("Mallory", &datagram);
        let told = told(&said, "Mallory");
        assert_eq!(told.len(), usize::from(is_answered(&datagram)), "{datagram:?}: {said:?}");
        assert!(told.iter().all(|answer| answer.starts_with("ERROR malformed message: ")), "{datagram:?}: {said:?}");
        let closed = told.iter().map(|_| Said::Closed("Mallory".into())).collect::<Vec<_>>();
        assert_eq!(said[told.len()..], closed, "{datagram:?}: known for no longer than it takes to answer");
    }
    assert_eq!(table.game().digest(), before);
    assert_eq!(table.known().collect::<Vec<_>>(), ["Alice", "Sam"]);
}

#[test]
fn an_error_says_what_would_be_right() {
    let mut table = Table::drawn(Rules::default(), "A.4");
    table.check(
        r"
        Alice >
            Alice < ERROR malformed message: byte 0: the first word is none of PLAY, SPECTATE and KEY
        Alice > KEY
            Alice < ERROR malformed message: byte 3: KEY wants one space and exactly one character, as in 'KEY h'
        Alice > KEY l\n
            Alice < ERROR malformed message: byte 5: KEY wants one space and exactly one character, as in 'KEY h'
        Alice > SPECTATE\x20
            Alice < ERROR malformed message: byte 8: nothing may stand behind SPECTATE
        Alice > PLAYBob
            Alice < ERROR malformed message: byte 0: the first word is none of PLAY, SPECTATE and KEY
        Alice > PLAY
            Alice < ERROR malformed message: byte 4: PLAY wants one space and a name, as in 'PLAY Ann'
        Mallory > \x1b[2J%s
            Mallory < ERROR malformed message: byte 0: the first word is none of PLAY, SPECTATE and KEY
            Mallory closed
        ",
    );
}

#[test]
fn messages_that_come_twice_or_late_do_no_harm() {
    let mut table = Table::drawn(Rules::default(), "A.B..4");
    table.send("Sam", "SPECTATE");
    table.check(
        "
        Alice > KEY l
            Alice < DISPLAY [.@B..*]
            Bob < DISPLAY [.A@..*]
            Sam < DISPLAY [.AB..*]
        Alice > PLAY Alice
            Alice < ERROR you are playing already, as A
        Bob > KEY Q
            Bob < QUIT Thanks for playing!
            Bob closed
            Alice < DISPLAY [.@...*]
            Sam < DISPLAY [.A...*]
        Bob > KEY Q
        Bob > KEY l
        Bob > PLAY Bob
            Bob < QUIT You have left this game and cannot join it again.
            Bob closed
        Sam > KEY Q
            Sam < QUIT Thanks for watching!
            Sam closed
        Sam > KEY Q
        ",
    );
    assert_eq!(table.game().players().len(), 2);
}
