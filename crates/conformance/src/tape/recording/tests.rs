//! Tests how a recording splits bytes into messages, and which messages it shows.

use super::{super::talk::Description, *};

// Messages end with a full stop. A '!' is an error.
static STOPS: Talk = Talk { tester: STOP, program: STOP, is_binary: false };
const STOP: Speech = Speech {
    carrier: Carrier::Stream(|bytes| match bytes.iter().position(|byte| matches!(byte, b'.' | b'!')) {
        Some(at) if bytes.get(at) == Some(&b'!') => Framed::Wrong(at, "no '!'".into()),
        Some(at) => Framed::Whole(at + 1),
        None => Framed::Part,
    }),
    tell: |bytes| Description::right(String::from_utf8_lossy(bytes)),
};

fn texts(recording: &mut Recording) -> Vec<String> {
    recording.tail().into_iter().map(|message| message.text).collect()
}

#[test]
fn messages_are_reassembled_from_any_pieces() {
    let mut recording = Recording::new(None);
    let channel = recording.open("a", &STOPS);
    for bytes in ["on", "e.tw", "o.", "three.fo"] {
        recording.add(channel, Sender::Program, bytes.as_bytes());
    }
    recording.add(channel, Sender::Tester, b"yes.no.");
    recording.focus = Some(channel);
    let beginning = "(2 bytes of an incomplete message)";
    assert_eq!(texts(&mut recording), ["one.", "two.", "three.", "yes.", "no.", beginning]);
    // Messages that the tester has not read yet are omitted, except where reading stops.
    recording.took(channel, 2);
    assert_eq!(texts(&mut recording), ["one.", "two.", "yes.", "no.", beginning]);
    recording.add(channel, Sender::Program, b"ur!five.");
    let last = recording.tail().pop().unwrap();
    let wrong = last.wrong.unwrap();
    assert_eq!((wrong.offset, wrong.stream_offset, wrong.byte), (4, Some(18), Some(b'!')));
    assert_eq!(last.bytes.unwrap().hex, "66 6f 75 72 21 66 69 76 65 2e");
}

#[test]
fn report_has_the_messages_of_its_connection() {
    let mut recording = Recording::new(None);
    let (one, other) = (recording.open("one", &STOPS), recording.open("other", &STOPS));
    recording.add(other, Sender::Program, b"aside.");
    recording.focus = Some(one);
    assert_eq!(texts(&mut recording), ["aside."], "its connection has carried no data");
    for number in 0..20 {
        recording.add(one, Sender::Program, format!("{number}.").as_bytes());
        recording.add(other, Sender::Program, b"aside.");
    }
    recording.focus = Some(one);
    let last: Vec<String> = (20 - SHOWN..20).map(|number| format!("{number}.")).collect();
    assert_eq!(texts(&mut recording), last);
    // Only the last picture is complete.
    recording.add(one, Sender::Program, b"first\npicture.second\npicture.");
    let shown = texts(&mut recording);
    assert_eq!(shown[SHOWN - 2..], ["first (1 lines)", "second\npicture."]);
}

#[test]
fn memory_is_bounded_for_any_input() {
    let mut recording = Recording::new(None);
    let channel = recording.open("a", &STOPS);
    for _ in 0..1000 {
        recording.add(channel, Sender::Tester, b"x.");
    }
    let endless = vec![b'x'; 100_000];
    for _ in 0..40 {
        recording.add(channel, Sender::Program, &endless);
    }
    let pending = recording.channels[channel].program.pending.len();
    assert!(pending <= LONGEST + endless.len() && recording.said.len() <= KEPT, "{pending}");
    assert!(recording.bytes <= KEPT_BYTES + LONGEST + endless.len());
    assert!(texts(&mut recording).iter().any(|text| text.contains("that are not messages")));
}
