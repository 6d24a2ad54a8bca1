use std::time::Duration;

use ladder::{Forfeit, Input, Ladder, MatchId, Output, ProgramId, Rejection, SILENCE, Seat, Settings};
use netcore::{HostId, Level, Time};

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1_000)
}

fn connected(program: u64, name: &str, rating: i64) -> Input {
    let host = HostId::V4([10, 0, 0, 1]);
    Input::Connected { program: ProgramId(program), name: name.into(), host, rating }
}

fn turns() -> Ladder {
    Ladder::new(Settings { reconnect: Duration::ZERO, ..Settings::default() })
}

// Ann and Bob play.
fn paired(settings: Settings) -> Ladder {
    let mut ladder = Ladder::new(settings);
    let _ = ladder.input(at(0), connected(1, "Ann", 1_000));
    let _ = ladder.input(at(0), connected(2, "Bob", 1_000));
    ladder
}

#[test]
fn program_may_reconnect_once_a_match() {
    // Even if the ladder is full.
    let mut ladder = paired(Settings { programs: 2, per_host: 2, ..Settings::default() });
    let _ = ladder.input(at(1), Input::Requested(ProgramId(1)));
    assert_eq!(ladder.input(at(2), Input::Disconnected(ProgramId(1))), []);
    assert_eq!(ladder.deadline(), Some(at(12)));
    let out = ladder.input(at(11), connected(3, "Ann", 1_000));
    assert_eq!(out, [Output::Reconnected { program: ProgramId(1), by: ProgramId(3) }]);
    // The time for the answer starts again.
    assert_eq!((ladder.deadline(), ladder.waiting().len()), (Some(at(21)), 0));
    let out = ladder.input(at(12), Input::Disconnected(ProgramId(1)));
    let number = MatchId(0);
    assert_eq!(out, [Output::Forfeited(number, ProgramId(1), Forfeit::Left), Output::Stop(number)]);
}

#[test]
fn program_that_does_not_reconnect_in_time_forfeits() {
    let mut ladder = paired(Settings::default());
    let _ = ladder.input(at(2), Input::Disconnected(ProgramId(1)));
    let out = ladder.input(at(12), Input::Elapsed);
    let number = MatchId(0);
    assert_eq!(out, [Output::Forfeited(number, ProgramId(1), Forfeit::Left), Output::Stop(number)]);
    assert_eq!(ladder.input(at(13), connected(3, "Ann", 1_000)), []);
    assert_eq!(ladder.waiting().len(), 1);
}

#[test]
fn program_on_datagrams_is_replaced_only_after_silence() {
    let settings = Settings { continuous: true, datagrams: true, ..Settings::default() };
    let mut ladder = paired(settings);
    let _ = ladder.input(at(4), Input::Answered(ProgramId(1)));
    let _ = ladder.input(at(4), Input::Answered(ProgramId(2)));
    assert_eq!(ladder.input(at(5), connected(3, "Ann", 1_000)), []);
    assert_eq!(ladder.deadline(), Some(at(4).plus(SILENCE)));
    let _ = ladder.input(at(5), Input::Answered(ProgramId(1)));
    assert_eq!(ladder.input(at(6), Input::Elapsed), []);
    let out = ladder.input(at(7), Input::Elapsed);
    assert_eq!(out, [Output::Reconnected { program: ProgramId(1), by: ProgramId(3) }]);
    // Only once a match.
    assert_eq!(ladder.input(at(7), connected(4, "Ann", 1_000)), []);
    assert_eq!(ladder.input(at(10), Input::Elapsed), []);
}

#[test]
fn distant_programs_wait_and_a_lone_one_plays_the_closest_bot() {
    let mut ladder = turns();
    assert_eq!(ladder.input(at(0), connected(1, "Ann", 1_190)), []);
    assert_eq!(ladder.input(at(0), connected(2, "Bob", 900)), []);
    // 290 points apart: 150 are permitted immediately, and 50 more per second.
    assert_eq!(ladder.deadline(), Some(at(3)));
    let out = ladder.input(at(3), Input::Elapsed);
    let seats = [Seat::Program(ProgramId(1)), Seat::Program(ProgramId(2))];
    assert_eq!(out, [Output::Start { number: MatchId(0), seats }]);
    assert_eq!(ladder.input(at(4), connected(3, "Eve", 1_190)), []);
    assert_eq!(ladder.deadline(), Some(at(9)));
    let out = ladder.input(at(9), Input::Elapsed);
    let seats = [Seat::Program(ProgramId(3)), Seat::Fixed(Level::Hard)];
    assert_eq!(out, [Output::Start { number: MatchId(1), seats }]);
}

#[test]
fn program_that_does_not_answer_in_time_forfeits() {
    let mut ladder = turns();
    let _ = ladder.input(at(0), connected(1, "Ann", 1_000));
    let _ = ladder.input(at(0), connected(2, "Bob", 1_000));
    let _ = ladder.input(at(1), Input::Requested(ProgramId(1)));
    let _ = ladder.input(at(5), Input::Requested(ProgramId(1)));
    assert_eq!(ladder.deadline(), Some(at(11)));
    let out = ladder.input(at(11), Input::Elapsed);
    let number = MatchId(0);
    assert_eq!(out, [Output::Forfeited(number, ProgramId(1), Forfeit::TimedOut), Output::Stop(number)]);
    assert_eq!(ladder.input(at(11), Input::Disconnected(ProgramId(2))), [], "the match is over for it");
    assert_eq!(ladder.input(at(12), Input::MatchEnded(number)), []);
    assert!(ladder.playing().is_empty() && ladder.deadline().is_none());
}

#[test]
fn program_that_leaves_a_running_match_forfeits() {
    let mut ladder = turns();
    let _ = ladder.input(at(0), connected(1, "Ann", 1_000));
    let _ = ladder.input(at(0), connected(2, "Bob", 1_000));
    let _ = ladder.input(at(1), Input::Finished(ProgramId(1)));
    assert_eq!(ladder.input(at(1), Input::Disconnected(ProgramId(1))), []);
    let out = ladder.input(at(2), Input::Disconnected(ProgramId(2)));
    let number = MatchId(0);
    assert_eq!(out, [Output::Forfeited(number, ProgramId(2), Forfeit::Left), Output::Stop(number)]);
    let _ = ladder.input(at(3), Input::MatchEnded(number));
}

#[test]
fn each_forfeit_doubles_the_delay() {
    let mut ladder = turns();
    let mut now = Time::ZERO;
    let mut pauses = vec![];
    for number in 0..8 {
        let begun = now;
        let mut out = ladder.input(now, connected(number, "Bob", 1_000));
        while out.is_empty() {
            now = ladder.deadline().unwrap();
            out = ladder.input(now, Input::Elapsed);
        }
        pauses.push(now.since(begun).as_secs());
        let gone = ladder.input(
            now,
            if number == 6 { Input::MatchEnded(MatchId(6)) } else { Input::Disconnected(ProgramId(number)) },
        );
        assert_eq!(gone.len(), if number == 6 { 0 } else { 2 }, "{gone:?}");
        let _ = ladder.input(now, Input::MatchEnded(MatchId(number)));
    }
    // Includes the wait for another program.
    assert_eq!(pauses, [5, 5, 5, 8, 16, 32, 64, 5]);
}

#[test]
fn name_in_a_match_is_not_paired_again() {
    let mut ladder = turns();
    let _ = ladder.input(at(0), connected(1, "Ann", 1_000));
    let _ = ladder.input(at(0), connected(2, "Bob", 1_000));
    assert_eq!(ladder.input(at(1), connected(3, "Ann", 1_000)), []);
    assert_eq!(ladder.input(at(2), connected(4, "Eve", 1_000)), [], "Ann plays already");
    let out = ladder.input(at(3), connected(5, "Ann", 1_000));
    assert_eq!(out, [Output::Rejected(ProgramId(3), Rejection::Replaced)]);
    let out = ladder.input(at(3), Input::MatchEnded(MatchId(0)));
    let seats = [Seat::Program(ProgramId(5)), Seat::Program(ProgramId(4))];
    assert_eq!(out, [Output::Start { number: MatchId(1), seats }]);
}

#[test]
fn programs_are_bounded_in_total_and_per_host() {
    let mut ladder = Ladder::new(Settings { programs: 20, per_host: 5, matches: 0, ..Settings::default() });
    for number in 0..100 {
        let host = HostId::V6Network(number / 10);
        let input = Input::Connected { program: ProgramId(number), name: number.to_string(), host, rating: 1_000 };
        let why = match ladder.input(at(0), input)[..] {
            [] => None,
            [Output::Rejected(_, why)] => Some(why),
            ref other => panic!("{other:?}"),
        };
        let expected = if number % 10 >= 5 && number < 40 { Some(Rejection::Host) } else { None };
        let expected = expected.or((number >= 40).then_some(Rejection::Full));
        assert_eq!(why, expected, "{number}");
    }
}
