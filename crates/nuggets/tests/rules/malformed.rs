use crate::table::{Effect, datagrams, plain, unescaped};

/// Malformed datagrams, separated by bars.
const SHORT: &str = r"|\x00|\x00\x00\x00|\x00\x00\x00\x00| |\n|\x0d\n|l|Q|\xff\xfe\xfd|%s%s%s%n|%s%n%x|OK A|GRID 1 1|GOLD 1 1 1
SPECTATE |SPECTATE\x00|SPECTATE\n|SPECTATE please|SPECTATEX|Spectate|spectate|DISPLAY\n|DISPLAY\n...\n|QUIT|QUIT Q
PLAY|PLAY\n|PLAYAlice|PLAYAnn|PLAY\nAnn|PLAY\x09Alice|PLAY\x00Alice| PLAY Alice|play Alice|play Ann|ERROR oops
KEY|KEY |KEYl|KEYh|KEY ll|KEY hh|KEY l\n|KEY h\n|KEY l\x00|KEY  l|KEY\nl|KEY QQ|KEY Q |KEY %n|key l|key h|Key l
\x1b[2J\x1b]0;title\x07|GET / HTTP/1.1\x0d\n\x0d\n";

fn malformed() -> Vec<Vec<u8>> {
    let long = [(&b""[..], b'x', 65_507), (b"", b'K', 65_507), (b"KEY ", b'l', 65_503), (b"SPECTATE", 0, 65_499)];
    let long = long.map(|(front, byte, count)| [front, &vec![byte; count]].concat());
    SHORT.lines().flat_map(|line| line.split('|')).map(unescaped).chain(long).collect()
}

// Only messages of a server get no response.
fn is_answered(datagram: &[u8]) -> bool {
    let word = datagram.split(|&byte| byte == b' ' || byte == b'\n').next().unwrap_or_default();
    ![&b"OK"[..], b"GRID", b"GOLD", b"DISPLAY", b"QUIT", b"ERROR"].contains(&word)
}

#[test]
fn malformed_datagram_is_answered_and_changes_nothing() {
    for who in ["Alice", "Sam", "Mallory"] {
        let mut table = plain("A.B.4");
        table.send("Sam", "SPECTATE");
        table.keys("Alice", "l");
        let (before, board) = (table.position(), table.board());
        for datagram in malformed() {
            let effects = table.send(who, &datagram);
            let datagrams = datagrams(&effects, who);
            assert_eq!(datagrams.len(), usize::from(is_answered(&datagram)), "{datagram:?}: {effects:?}");
            let is_short = |answer: &String| answer.starts_with("ERROR malformed message: ") && answer.len() <= 130;
            assert!(datagrams.iter().all(is_short), "{datagram:?}: {effects:?}");
            // An unadmitted peer is removed after the response.
            let closed = if who == "Mallory" { datagrams.len() } else { 0 };
            assert_eq!(effects[datagrams.len()..], vec![Effect::Closed(who.into()); closed], "{datagram:?}");
        }
        assert_eq!((table.position(), table.board()), (before, board));
        assert_eq!(table.peers().collect::<Vec<_>>(), ["Alice", "Bob", "Sam"]);
        table.check(
            "
            Alice > KEY h
                Alice < DISPLAY [@.B.*]
                Bob < DISPLAY [A.@.*]
                Sam < DISPLAY [A.B.*]
            ",
        );
    }
}

transcripts! {
    error_names_the_expected_form: plain("A.4") => r"
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
    ";
}
