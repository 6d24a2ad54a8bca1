use std::{collections::BTreeSet, iter};

use mastermind::{Code, Lifeline, Peg, Revealed, Rules, ServerMessage, game::TURNS, solver::Hint};

use super::{
    Subject,
    client::describe,
    player::{Player, check_places},
    rules::{
        ANY_PLACE, AVAILABILITY, BLOCKED, FEEDBACK, GRAMMAR, HINT, LIFELINE_1, LIFELINE_2, NEW, NEW_RULES, NUMBERS,
        ONE_LIFELINE, QUIT, RANDOM, REPEATS, WON,
    },
};
use crate::{
    judge::{Judge, ScenarioResult, Scene, scene},
    mastermind::{answers::answer, permutation::permuted},
    tester::Options,
};

/// Games for each lifeline. All of them reveal the same place by chance in one test of five million.
const LIFELINES: usize = 10;
/// Games with repeats. The probability that none of them has repeats is one in 70 million.
const LONG_GAMES: usize = 3;
/// A guess is correct by chance in one of several hundred games.
const ATTEMPTS: usize = 3;
/// The maximum number of codes in a hint.
const LISTED: usize = 20;

pub(super) fn scenes<'s>(subject: &'s Subject<'_>) -> Vec<Scene<'s>> {
    vec![
        scene("a won game", |judge| won(judge, subject)).shows([&WON, &FEEDBACK, &GRAMMAR]),
        // Other rules depend on this scenario, so it is played for any selection of rules.
        scene("games with other rules", |judge| other_rules(judge, subject)),
        scene("lifelines", |judge| lifelines(judge, subject)).shows([
            &LIFELINE_1,
            &LIFELINE_2,
            &ANY_PLACE,
            &AVAILABILITY,
            &GRAMMAR,
        ]),
        scene("lifelines in late turns", |judge| late_lifelines(judge, subject)).shows([&BLOCKED, &AVAILABILITY]),
        scene("a second lifeline", |judge| second_lifeline(judge, subject)).shows([&ONE_LIFELINE, &AVAILABILITY]),
        scene("a hint", |judge| hint(judge, subject)).shows([&HINT, &GRAMMAR]),
        scene("two starts of a server", |judge| starts(judge, subject)).shows([&RANDOM]),
    ]
}

/// Not a valid code of a game without repeats.
pub(super) fn filler(length: usize) -> ScenarioResult<Code> {
    let pegs: Vec<Peg> = Peg::new(0).into_iter().cycle().take(length).collect();
    Ok(Code::new(&pegs)?)
}

fn guesses(rules: Rules, options: &Options) -> Vec<Code> {
    let (length, colours) = (rules.length(), rules.colours());
    let peg = |turn: usize, place: usize| Peg::new((turn * 3 + place * (turn % 3)) % colours);
    let pegs = |turn| (0..length).filter_map(|place| peg(turn, place)).collect::<Vec<_>>();
    let codes = (0..TURNS).filter_map(|turn| Code::new(&pegs(turn)).ok());
    codes.map(|code| permuted(code, colours, options)).collect()
}

/// The basis of all other scenarios.
pub(super) fn lost(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    for _ in 0..ATTEMPTS {
        let rules = player.game.rules;
        for guess in guesses(rules, &subject.options) {
            player.guess(judge, guess)?;
            if player.game.code.is_some() {
                break;
            }
        }
        if player.game.rows.len() == TURNS {
            break;
        }
        player.new_game(judge, &NEW, None)?;
    }
    player.client.send("QUIT");
    player.client.expect_bye(judge, &QUIT, "QUIT")
}

fn won(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    while player.game.code.is_none() {
        let hint = Hint::of(&player.game.knowledge()?);
        let hint = hint.ok_or_else(|| {
            let rows: Vec<_> = player.game.rows.iter().map(|(guess, reported)| format!("{guess} {reported}")).collect();
            format!("expected answers that fit a code, received {}", rows.join("; "))
        });
        let guess = judge.expect(&FEEDBACK, hint)?.guess;
        player.guess(judge, guess)?;
    }
    Ok(())
}

fn other_rules(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    let mut numbers = BTreeSet::from([player.game.number]);
    let mut codes = Vec::new();
    player.resign(judge)?;
    for wanted in [None, Some((5, false)), Some((8, false)), Some((6, true))] {
        let rule = if wanted.is_none() { &NEW } else { &NEW_RULES };
        player.new_game(judge, rule, wanted)?;
        let number = player.game.number;
        judge
            .check(&NUMBERS, numbers.insert(number), || format!("expected a new game number, received {number} again"));
        let guesses = guesses(player.game.rules, &subject.options);
        for guess in guesses.into_iter().skip(1).take(2) {
            player.guess(judge, guess)?;
            if player.game.code.is_some() {
                return Ok(());
            }
        }
        player.resign(judge)?;
    }
    for _ in 0..LONG_GAMES {
        player.new_game(judge, &NEW_RULES, Some((8, true)))?;
        codes.push(player.resign(judge)?);
    }
    let reported = codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    judge.check(&REPEATS, codes.iter().any(|code| code.repeats()), || {
        format!("expected a repeated digit in some code, received {reported}")
    });
    let different: BTreeSet<_> = codes.iter().collect();
    judge.check(&RANDOM, different.len() == codes.len(), || {
        format!("expected different codes in three games, received {reported}")
    });
    Ok(())
}

/// Plays games without repeats, in which the first request is a lifeline.
fn lifelines(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    player.resign(judge)?;
    for lifeline in Lifeline::ALL {
        let mut places = Vec::new();
        for _ in 0..LIFELINES {
            player.new_game(judge, &NEW_RULES, Some((6, false)))?;
            let revealed = player.lifeline(judge, lifeline)?;
            let code = player.resign(judge)?;
            places.extend(match revealed {
                Revealed::Colour(peg) => code.pegs().position(|other| other == peg),
                Revealed::Place { place, .. } => Some(place),
            });
        }
        // If a lifeline reveals wrong digits, its places are unknown.
        if places.len() == LIFELINES {
            check_places(judge, lifeline.number(), &places);
        }
    }
    Ok(())
}

fn advanced(judge: &mut Judge, player: &mut Player, turns: usize) -> ScenarioResult {
    player.new_game(judge, &NEW_RULES, Some((4, false)))?;
    let filler = filler(4)?;
    (0..turns).try_for_each(|_| player.guess(judge, filler))
}

fn late_lifelines(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    let filler = filler(4)?;
    player.resign(judge)?;
    for (lifeline, last) in [(Lifeline::Colour, 9), (Lifeline::Place, 8)] {
        // In the last possible turn, the lifeline is granted and leaves the tenth turn.
        advanced(judge, &mut player, last - 1)?;
        player.lifeline(judge, lifeline)?;
        player.guess(judge, filler)?;
        judge.require(&AVAILABILITY, player.game.code.is_some(), || {
            "expected the end of the game after ten turns, but it continues".to_owned()
        })?;
        // One turn later, it is rejected and takes no turn.
        advanced(judge, &mut player, last)?;
        player.client.expect_refusal(judge, &BLOCKED, format!("LIFELINE {}", lifeline.number()))?;
        for _ in last..TURNS {
            player.guess(judge, filler)?;
        }
    }
    Ok(())
}

fn second_lifeline(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    player.resign(judge)?;
    for first in Lifeline::ALL {
        advanced(judge, &mut player, 1)?;
        player.lifeline(judge, first)?;
        for second in Lifeline::ALL {
            player.client.expect_refusal(judge, &ONE_LIFELINE, format!("LIFELINE {}", second.number()))?;
        }
        player.guess(judge, filler(4)?)?;
        player.resign(judge)?;
    }
    Ok(())
}

fn hint(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut player = subject.take_seat(judge, "Ann")?;
    let rules = player.game.rules;
    for guess in guesses(rules, &subject.options).into_iter().skip(1).take(4) {
        player.guess(judge, guess)?;
        if player.game.code.is_some() {
            return Ok(());
        }
    }
    let mut possible = Vec::new();
    for code in rules.all() {
        let fits: anyhow::Result<Vec<bool>> =
            player.game.rows.iter().map(|(guess, reported)| Ok(answer(code, *guess)? == *reported)).collect();
        if fits?.into_iter().all(|fits| fits) {
            possible.push(code);
        }
    }
    player.client.send("HINT");
    let received = player.client.receive_own(judge)?;
    let turn = player.game.turn.turn;
    match received {
        Ok(ServerMessage::No(_)) => {
            judge.check(&HINT, true, String::new);
            return player.guess(judge, filler(rules.length())?);
        }
        Ok(ServerMessage::Turn(reported)) if (reported.turn, reported.hints) == (turn, 1) => {
            player.game.turn = reported;
        }
        received => {
            return judge.broken(&HINT, || {
                format!("expected NO after HINT, or TURN {turn} with 1 hint, received {}", describe(&received))
            });
        }
    }
    let received = player.client.receive_own(judge)?;
    let count = possible.len() as u64;
    let right =
        matches!(&received, Ok(ServerMessage::Hint(advice)) if (advice.turn, advice.remaining) == (turn, count));
    judge.require(&HINT, right, || format!("expected HINT {turn} {count}, received {}", describe(&received)))?;
    if possible.len() <= LISTED {
        let received = player.client.receive_own(judge)?;
        let listed = match &received {
            Ok(ServerMessage::Possible(codes)) => codes.iter().copied().collect::<BTreeSet<_>>(),
            _ => BTreeSet::new(),
        };
        judge.require(&HINT, listed == possible.iter().copied().collect(), || {
            format!("expected POSSIBLE with {count} codes, received {}", describe(&received))
        })?;
    }
    player.guess(judge, filler(rules.length())?)
}

fn starts(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    if subject.launcher.address().is_some() {
        return Ok(());
    }
    let code = |judge: &mut Judge| {
        let mut player = subject.take_seat(judge, "Ann")?;
        player.resign(judge)?;
        player.new_game(judge, &NEW_RULES, Some((8, true)))?;
        player.resign(judge)
    };
    let codes: Vec<Code> = iter::repeat_with(|| code(judge)).take(2).collect::<ScenarioResult<_>>()?;
    judge.check(&RANDOM, codes[0] != codes[1], || {
        format!("expected different codes after two starts, received {} twice", codes[0])
    });
    Ok(())
}
