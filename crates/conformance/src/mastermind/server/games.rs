use std::{collections::BTreeSet, iter};

use mastermind::{
    Code, Feedback, Lifeline, Peg, Revealed, Rules, ServerMessage, game::TURNS, protocol::Turn, solver::LISTED,
};

use super::{ANY_PLACE, AVAILABILITY, BLOCKED, FEEDBACK, HINT, NAMES, NUMBERS, RANDOM, REPEATS, SEAT, Subject};
use crate::{
    judge::{Judge, ScenarioResult},
    mastermind::{check_codes, next_guess, permuted},
    tester::Options,
};

/// Games for each lifeline. All reveal the same place by chance in one test of five million.
const LIFELINES: usize = 10;
/// Games with repeats allowed. The probability that no code has repeats is one in 70 million.
const LONG_GAMES: usize = 3;
/// A guess is correct by chance in one of several hundred games.
const ATTEMPTS: usize = 3;

/// Names and their form in SEAT.
const NAMED: [(&[u8], &str); 4] = [
    (b"abcdefghijklmnopqrstuvwxyz1234", "abcdefghijklmnopqrstuvwx"),
    (b"Ann Lee", "Ann Lee"),
    (b"a\tb\x7fc", "a_b_c"),
    ("Żółw".as_bytes(), "______w"),
];

fn guesses(rules: Rules, options: &Options) -> Vec<Code> {
    let (length, colours) = (rules.length(), rules.colours());
    let peg = |turn: usize, place: usize| Peg::new((turn * 3 + place * (turn % 3)) % colours);
    let pegs = |turn| (0..length).filter_map(|place| peg(turn, place)).collect::<Vec<_>>();
    let codes = (0..TURNS).filter_map(|turn| Code::new(&pegs(turn)).ok());
    codes.map(|code| permuted(code, colours, options)).collect()
}

/// All other scenarios build on this.
pub(super) fn lost(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.connect(judge)?;
    player.say(judge, &["PLAY Ann"])?;
    for _ in 0..ATTEMPTS {
        for guess in guesses(player.rules, &subject.options) {
            player.guess(judge, guess)?;
            if player.game.code.is_some() {
                break;
            }
        }
        if player.game.rows.len() == TURNS {
            break;
        }
        player.say(judge, &["NEW"])?;
    }
    player.say(judge, &["QUIT"])
}

pub(super) fn won(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.connect(judge)?;
    player.say(judge, &["PLAY Ann"])?;
    while player.game.code.is_none() {
        let guess = next_guess(judge, &FEEDBACK, player.game.rules, &player.game.rows)?;
        player.guess(judge, guess)?;
    }
    Ok(())
}

pub(super) fn other_rules(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.connect(judge)?;
    player.say(judge, &["PLAY Ann"])?;
    let mut numbers = BTreeSet::from([player.game.number]);
    player.resign(judge)?;
    for new in ["NEW", "NEW 5 no", "NEW 8 no", "NEW 6 yes"] {
        player.say(judge, &[new])?;
        let number = player.game.number;
        judge
            .check(&NUMBERS, numbers.insert(number), || format!("expected a new game number, received {number} again"));
        for guess in guesses(player.game.rules, &subject.options).into_iter().skip(1).take(2) {
            player.guess(judge, guess)?;
            if player.game.code.is_some() {
                return Ok(());
            }
        }
        player.resign(judge)?;
    }
    let mut codes = Vec::new();
    for _ in 0..LONG_GAMES {
        player.say(judge, &["NEW 8 yes"])?;
        codes.push(player.resign(judge)?);
    }
    check_codes(judge, (&REPEATS, &RANDOM), &codes);
    Ok(())
}

/// Each game begins with a lifeline. The revealed places must differ.
pub(super) fn lifelines(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.seat(judge, &[])?;
    for lifeline in Lifeline::ALL {
        let which = lifeline.number();
        let mut places = Vec::new();
        for _ in 0..LIFELINES {
            player.say(judge, &["NEW 6 no", &format!("LIFELINE {which}")])?;
            let revealed = player.game.revealed;
            let code = player.resign(judge)?;
            places.extend(match revealed {
                Some(Revealed::Colour(peg)) => code.pegs().position(|other| other == peg),
                Some(Revealed::Place { place, .. }) => Some(place),
                None => None,
            });
        }
        // Wrong digits have no place.
        if places.len() == LIFELINES {
            judge.check(&ANY_PLACE, places.iter().any(|place| *place != places[0]), || {
                let place = places[0] + 1;
                format!("expected random places from lifeline {which}, received place {place} {LIFELINES} times")
            });
        }
    }
    Ok(())
}

pub(super) fn late_lifelines(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.seat(judge, &[])?;
    for (lifeline, last) in [("LIFELINE 1", 9), ("LIFELINE 2", 8)] {
        // The last turn that grants the lifeline leaves the tenth turn.
        player.say(judge, &["NEW 4 no"])?;
        player.say(judge, &vec!["GUESS 1111"; last - 1])?;
        player.say(judge, &[lifeline, "GUESS 1111"])?;
        judge.require(&AVAILABILITY, player.game.code.is_some(), || {
            "expected the end of the game after ten turns, but it continues".to_owned()
        })?;
        // One turn later, the lifeline is rejected and takes no turn.
        player.say(judge, &["NEW 4 no"])?;
        player.say(judge, &vec!["GUESS 1111"; last])?;
        player.refused(judge, &BLOCKED, [lifeline])?;
        player.say(judge, &vec!["GUESS 1111"; TURNS - last])?;
    }
    Ok(())
}

pub(super) fn hint(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.connect(judge)?;
    player.say(judge, &["PLAY Ann"])?;
    let rules = player.rules;
    for guess in guesses(rules, &subject.options).into_iter().skip(1).take(4) {
        player.guess(judge, guess)?;
        if player.game.code.is_some() {
            return Ok(());
        }
    }
    let fits = |code: &Code| player.game.rows.iter().all(|(guess, told)| Feedback::of(*guess, *code) == *told);
    let possible: BTreeSet<Code> = rules.all().into_iter().filter(fits).collect();
    let (turn, count) = (player.game.turn.turn, possible.len());
    player.lines.send("HINT");
    let wanted = format!("NO after HINT, or TURN {turn} with 1 hint");
    let told = player.expect(judge, &HINT, &wanted, |message| match *message {
        ServerMessage::No(_) => Some(None),
        ServerMessage::Turn(told @ Turn { hints: 1, .. }) if told.turn == turn => Some(Some(told)),
        _ => None,
    })?;
    if let Some(told) = told {
        player.game.turn = told;
        player.expect(judge, &HINT, &format!("HINT {turn} {count}"), |message| match message {
            ServerMessage::Hint(advice) => ((advice.turn, advice.remaining) == (turn, count as u64)).then_some(()),
            _ => None,
        })?;
        if count <= LISTED {
            player.expect(judge, &HINT, &format!("POSSIBLE with {count} codes"), |message| match message {
                ServerMessage::Possible(codes) => {
                    (codes.iter().copied().collect::<BTreeSet<_>>() == possible).then_some(())
                }
                _ => None,
            })?;
        }
    }
    player.say(judge, &[&format!("GUESS {}", "1".repeat(rules.length()))])
}

pub(super) fn starts(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    if subject.launcher.address().is_some() {
        return Ok(());
    }
    let code = |judge: &mut Judge| subject.seat(judge, &["NEW 8 yes"])?.resign(judge);
    let codes: Vec<Code> = iter::repeat_with(|| code(judge)).take(2).collect::<ScenarioResult<_>>()?;
    judge.check(&RANDOM, codes[0] != codes[1], || {
        format!("expected different codes after two starts, received {} twice", codes[0])
    });
    Ok(())
}

pub(super) fn names(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    for (typed, wanted) in NAMED {
        let mut player = subject.connect(judge)?;
        player.lines.send([b"PLAY ", typed].concat());
        let seat = player.expect(judge, &SEAT, "OK after PLAY", |message| match message {
            ServerMessage::Ok(seat) => Some(*seat),
            _ => None,
        })?;
        let wanted = format!("SEAT {seat} {wanted}");
        // Compared as text, since a wrong name can be well formed. Messages about other seats may precede it.
        let by = subject.options.deadline();
        let lines = iter::from_fn(|| player.lines.line(by));
        let reported = lines
            .map(|line| String::from_utf8_lossy(&line).into_owned())
            .find(|line| line.starts_with(&format!("SEAT {seat} ")));
        judge.check(&NAMES, reported.as_ref().is_none_or(|reported| *reported == wanted), || {
            let reported = reported.as_deref().unwrap_or_default().escape_debug();
            format!("expected '{wanted}' after PLAY {}, received '{reported}'", typed.escape_ascii())
        });
    }
    Ok(())
}
