use journal_core::{Head, Journalled};
use netcore::{GameEvent, Recorded};

use super::*;

/// The reply of `ANN` to a message.
type Answer = fn(&str) -> Option<&'static str>;

/// `ANN` sends `first`, then replies to messages. Returns the messages to her, with milliseconds since the match began.
fn play<E: Recorded + Send + 'static>(
    directory: &Path,
    engine: E,
    first: &[&str],
    answer: Answer,
) -> (ReplayRequest, Vec<(u64, Bytes)>) {
    let writing = Writing::start(SyncPolicy::Always, MAX_SIZE).unwrap();
    let head = Head::new(&engine, "test", vec![], 99);
    let (path, (mut room, _, end)) = writing.create(directory, EngineRoom::new(engine), head).unwrap();
    let mut out = Outbox::new();
    let mut now = Time::from_millis(5_000);
    while let Some(due) = room.deadline().filter(|due| *due <= now) {
        room.input(due, Input::Elapsed, &mut out);
    }
    let connected =
        Input::Connected { peer: ANN, role: Role::Player, link: Link::Message, address: "10.0.0.1:1".into() };
    room.input(now, connected, &mut out);
    let say = |room: &mut Journalled<E>, now, text: &str, out: &mut Outbox| {
        room.receive(now, ANN, &mut BytesMut::from(text), out);
    };
    for text in first {
        say(&mut room, now, text, &mut out);
    }
    let (mut begins, mut sent) = (now, vec![]);
    let ends = loop {
        let mut says = None;
        let mut over = false;
        for output in out.drain() {
            match output {
                Output::Event(GameEvent::Started { .. }) => begins = now,
                Output::Event(GameEvent::Ended { .. }) => over = true,
                Output::Send { to: To::Peer(ANN), frame } => {
                    says = answer(&String::from_utf8_lossy(&frame)).or(says);
                    sent.push((now, frame));
                }
                _ => {}
            }
        }
        if over {
            break now;
        }
        if let Some(text) = says {
            now = now.plus(Duration::from_millis(300));
            say(&mut room, now, text, &mut out);
        } else {
            now = now.max(room.deadline().expect("the room waits for nobody"));
            room.input(now, Input::Elapsed, &mut out);
        }
    };
    end.close();
    assert!(end.finish(PATIENCE));
    let micros = |time: Time| time.as_nanos() / 1_000;
    let request = ReplayRequest {
        game: E::GAME.into(),
        path,
        number: 1,
        begins: micros(begins),
        ends: micros(ends),
        unfinished: false,
    };
    let since = |at: Time| u64::try_from(at.since(begins).as_millis()).unwrap();
    (request, sent.into_iter().map(|(at, frame)| (since(at), frame)).collect())
}

fn frame_texts(frames: &Frames) -> Vec<&str> {
    frames.frames.iter().map(|(_, frame)| text(frame)).collect()
}

#[test]
fn page_of_blackjack_gets_earlier_results_and_all_messages_of_the_current_round() {
    let directory = TempDir::new();
    let mut config = blackjack::Config::new(40, blackjack::Seed::new([7; 32]));
    config.players = 1;
    let engine = blackjack::Server::new(config).unwrap();
    let (request, messages) =
        play(directory.path(), engine, &["JOIN Ann\0"], |message| message.starts_with("DECISION").then_some("STAND\0"));
    let track = Track::read::<blackjack::Server>(&request).unwrap();
    let seat = track.seats[0].seat.clone();
    let mut rounds = std::collections::BTreeSet::new();
    for part in 0..100 {
        let from = track.length() * part / 100;
        let until: Vec<&str> = messages
            .iter()
            .filter(|(at, _)| *at <= from)
            .map(|(_, frame)| std::str::from_utf8(frame).unwrap().trim_end_matches('\0'))
            .collect();
        let begin = until.iter().rposition(|text| *text == "BEGIN").unwrap();
        let results = until[..begin].iter().filter(|text| text.starts_with("RESULT"));
        let expected: Vec<&str> = results.chain(&until[begin..]).copied().collect();
        let told = frames::frames::<blackjack::Server>(&track, Some(&seat), from, from).unwrap();
        assert_eq!(frame_texts(&told), expected, "at {from}");
        rounds.insert(expected.iter().filter(|text| text.starts_with("RESULT")).count());
        let told = frames::frames::<blackjack::Server>(&track, Some(&seat), from, track.length()).unwrap();
        assert_eq!(told.frames.len(), expected.len() + messages.len() - until.len());
    }
    assert!(rounds.len() > 20, "{rounds:?}");
}

#[tokio::test]
async fn view_of_a_player_of_the_daily_puzzle_is_hidden_until_the_day_is_over() {
    const DAY: u32 = 20_000;
    let directory = TempDir::new();
    // The match begins five seconds after the room, on its second day.
    let first_day = mastermind::config::FirstDay { day: DAY - 1, lasts: Duration::from_secs(2) };
    let mut config = mastermind::Config::new(4, true, 1);
    (config.mode, config.first_day) = (mastermind::Mode::Daily, Some(first_day));
    let engine = mastermind::Server::new(config).unwrap();
    let (request, sent) = play(directory.path(), engine, &["PLAY Ann", "GUESS 1234"], |message| {
        message.starts_with("TURN 2").then_some("RESIGN")
    });
    let code = mastermind::Day(DAY).puzzle(mastermind::Rules::new(4, 8, true).unwrap()).to_string();
    assert!(sent.iter().any(|(_, frame)| String::from_utf8_lossy(frame).trim_end().ends_with(&code)));

    let replays = Replays::new(directory.path().to_owned());
    let found = Match {
        id: "one".into(),
        game: "mastermind".into(),
        journal: request.path.file_name().unwrap().to_str().unwrap().into(),
        number: request.number,
        begins: request.begins,
        ends: request.ends,
        complete: true,
        ..Match::default()
    };
    let all = (0, MAX_STRETCH);
    for today in [DAY - 1, DAY] {
        let timeline = replays.timeline(&found, today, ()).await.unwrap();
        assert_eq!((timeline.seats, timeline.marks.len()), (vec![], 3));
        let refused = replays.frames(&found, Some("1".into()), all, today, ()).await;
        assert!(matches!(refused, Err(ReplayError::Today)), "{refused:?}");
        // Watchers see only the feedback, as during the match.
        let watched = replays.frames(&found, None, all, today, ()).await.unwrap();
        let texts = frame_texts(&watched);
        assert!(texts.iter().any(|text| text.starts_with("ROW 1 1 **** ")), "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains(&code) || text.contains("1234")), "{texts:?}");
    }
    let timeline = replays.timeline(&found, DAY + 1, ()).await.unwrap();
    assert_eq!((&*timeline.seats[0].seat, &*timeline.seats[0].name), ("1", "Ann"));
    let told = replays.frames(&found, Some("1".into()), all, DAY + 1, ()).await.unwrap();
    let texts = frame_texts(&told);
    assert!(texts.iter().any(|text| text.starts_with("ROW 1 1 1234 ")), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("OVER 1 ") && text.ends_with(&code)), "{texts:?}");
}
