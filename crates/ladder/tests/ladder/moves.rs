//! Tests of single inputs.

use ladder::{Forfeit, Input, Ladder, MatchId, Output, ProgramId, Refusal, Seat, Settings};
use netcore::{HostId, Level, Time};

fn at(seconds: u64) -> Time {
    Time::from_millis(seconds * 1_000)
}

fn arrived(program: u64, name: &str, rating: i64) -> Input {
    let host = HostId::V4([10, 0, 0, 1]);
    Input::Arrived { program: ProgramId(program), name: name.into(), host, rating }
}

fn turns() -> Ladder {
    Ladder::new(Settings::default())
}

#[test]
fn programs_that_are_far_apart_wait_and_a_lone_one_plays_the_bot_of_its_strength() {
    let mut ladder = turns();
    assert_eq!(ladder.input(at(0), arrived(1, "Ann", 1_190)), []);
    assert_eq!(ladder.input(at(0), arrived(2, "Bob", 900)), []);
    // 290 points apart: 150 are permitted immediately, and 50 more with each second.
    assert_eq!(ladder.deadline(), Some(at(3)));
    let out = ladder.input(at(3), Input::Elapsed);
    let seats = [Seat::Program(ProgramId(1)), Seat::Program(ProgramId(2))];
    assert_eq!(out, [Output::Start { number: MatchId(0), seats }]);
    assert_eq!(ladder.input(at(4), arrived(3, "Eve", 1_190)), []);
    assert_eq!(ladder.deadline(), Some(at(9)));
    let out = ladder.input(at(9), Input::Elapsed);
    let seats = [Seat::Program(ProgramId(3)), Seat::Fixed(Level::Hard)];
    assert_eq!(out, [Output::Start { number: MatchId(1), seats }]);
}

#[test]
fn program_that_owes_an_answer_loses() {
    let mut ladder = turns();
    let _ = ladder.input(at(0), arrived(1, "Ann", 1_000));
    let _ = ladder.input(at(0), arrived(2, "Bob", 1_000));
    let _ = ladder.input(at(1), Input::Asked(ProgramId(1)));
    // A second request does not extend the deadline.
    let _ = ladder.input(at(5), Input::Asked(ProgramId(1)));
    assert_eq!(ladder.deadline(), Some(at(11)));
    let out = ladder.input(at(11), Input::Elapsed);
    let number = MatchId(0);
    assert_eq!(out, [Output::Lost(number, ProgramId(1), Forfeit::Silent), Output::Stop(number)]);
    assert_eq!(ladder.input(at(11), Input::Gone(ProgramId(2))), [], "the match is over for it");
    assert_eq!(ladder.input(at(12), Input::Over(number)), []);
    assert!(ladder.playing().is_empty() && ladder.deadline().is_none());
}

#[test]
fn program_that_leaves_an_open_match_loses() {
    let mut ladder = turns();
    let _ = ladder.input(at(0), arrived(1, "Ann", 1_000));
    let _ = ladder.input(at(0), arrived(2, "Bob", 1_000));
    let _ = ladder.input(at(1), Input::Finished(ProgramId(1)));
    assert_eq!(ladder.input(at(1), Input::Gone(ProgramId(1))), []);
    let out = ladder.input(at(2), Input::Gone(ProgramId(2)));
    let number = MatchId(0);
    assert_eq!(out, [Output::Lost(number, ProgramId(2), Forfeit::Gone), Output::Stop(number)]);
    let _ = ladder.input(at(3), Input::Over(number));
}

#[test]
fn repeated_misbehaviour_doubles_the_wait() {
    let mut ladder = turns();
    let mut now = Time::ZERO;
    let mut pauses = vec![];
    for number in 0..8 {
        let begun = now;
        let mut out = ladder.input(now, arrived(number, "Bob", 1_000));
        while out.is_empty() {
            now = ladder.deadline().unwrap();
            out = ladder.input(now, Input::Elapsed);
        }
        pauses.push(now.since(begun).as_secs());
        let gone =
            ladder.input(now, if number == 6 { Input::Over(MatchId(6)) } else { Input::Gone(ProgramId(number)) });
        assert_eq!(gone.len(), if number == 6 { 0 } else { 2 }, "{gone:?}");
        let _ = ladder.input(now, Input::Over(MatchId(number)));
    }
    // The time includes the wait for another program.
    assert_eq!(pauses, [5, 5, 5, 8, 16, 32, 64, 5]);
}

#[test]
fn a_name_that_plays_waits_until_its_match_is_over() {
    let mut ladder = turns();
    let _ = ladder.input(at(0), arrived(1, "Ann", 1_000));
    let _ = ladder.input(at(0), arrived(2, "Bob", 1_000));
    assert_eq!(ladder.input(at(1), arrived(3, "Ann", 1_000)), []);
    assert_eq!(ladder.input(at(2), arrived(4, "Eve", 1_000)), [], "Ann plays already");
    let out = ladder.input(at(3), arrived(5, "Ann", 1_000));
    assert_eq!(out, [Output::Refused(ProgramId(3), Refusal::Replaced)]);
    let out = ladder.input(at(3), Input::Over(MatchId(0)));
    let seats = [Seat::Program(ProgramId(5)), Seat::Program(ProgramId(4))];
    assert_eq!(out, [Output::Start { number: MatchId(1), seats }]);
}

#[test]
fn programs_and_those_of_a_host_are_bounded() {
    let mut ladder = Ladder::new(Settings { programs: 20, per_host: 5, matches: 0, ..Settings::default() });
    for number in 0..100 {
        let host = HostId::V6Network(number / 10);
        let input = Input::Arrived { program: ProgramId(number), name: number.to_string(), host, rating: 1_000 };
        let why = match ladder.input(at(0), input)[..] {
            [] => None,
            [Output::Refused(_, why)] => Some(why),
            ref other => panic!("{other:?}"),
        };
        let expected = if number % 10 >= 5 && number < 40 { Some(Refusal::Host) } else { None };
        let expected = expected.or((number >= 40).then_some(Refusal::Full));
        assert_eq!(why, expected, "{number}");
    }
}
