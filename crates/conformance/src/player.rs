//! Tests players of blackjack.

mod croupier;
mod rules;

use std::time::Instant;

use blackjack::{Card, DealerMessage, Verdict};

use crate::{
    judge::{Judge, Played, scene},
    launch::{Launcher, Run},
    rule::Rule,
    tester::{Options, Tester},
};
use croupier::{Croupier, Delivery};
use rules::{
    BAD_MESSAGE, BEGIN_AGAIN, DEALER_GONE, EXIT_STATUS, JOINS, LOSE, MERGED, NAMES, NO_CRASH, PIECES, QUIET, QUITS,
    RULES, SURVIVES,
};

/// The tester of players.
pub static TESTER: Tester = Tester {
    kind: "player",
    is_server: false,
    usual: "{name} {host} {port}",
    known: &["name", "host", "port"],
    needed: &["host", "port"],
    rules: RULES,
    play,
};

/// Rounds in which every card is shown: three open each round.
const ALL_CARDS: usize = 18;
/// Rounds of the other scenarios.
const ROUNDS: usize = 4;

/// What is played before QUIT.
type Game = fn(&mut Judge, &mut Croupier) -> Played;

/// The scenarios that end with QUIT, besides a whole game, each with the rule that it is meant to show.
const GAMES: &[(&str, &Rule, Delivery, Game)] = &[
    ("messages in single bytes", &PIECES, Delivery::Bytes, |judge, croupier| goes_on(judge, &PIECES, croupier, ROUNDS)),
    ("messages in one segment", &MERGED, Delivery::Merged, |judge, croupier| goes_on(judge, &MERGED, croupier, ROUNDS)),
    ("the dealer writes LOSE", &LOSE, Delivery::Whole, |judge, croupier| {
        croupier.deal(judge)?;
        croupier.hand(judge)?;
        croupier.raw(b"RESULT LOSE\0");
        goes_on(judge, &LOSE, croupier, 1)
    }),
    ("BEGIN in the middle of a round", &BEGIN_AGAIN, Delivery::Whole, |judge, croupier| {
        croupier.deal(judge)?;
        croupier.answer(judge)?;
        goes_on(judge, &BEGIN_AGAIN, croupier, 1)
    }),
    ("QUIT in the middle of a round", &QUITS, Delivery::Whole, |_, croupier| {
        croupier.say(DealerMessage::Begin);
        croupier.card();
        Ok(())
    }),
    ("a RESULT before any DECISION", &SURVIVES, Delivery::Whole, |judge, croupier| {
        croupier.say(DealerMessage::Begin);
        croupier.say(DealerMessage::Result(Verdict::Win));
        goes_on(judge, &SURVIVES, croupier, 1)
    }),
    ("a card that comes twice", &SURVIVES, Delivery::Whole, |judge, croupier| {
        croupier.say(DealerMessage::Begin);
        for card in [Card::new(2), Card::new(2)].into_iter().flatten() {
            croupier.say(DealerMessage::Card(card));
        }
        goes_on(judge, &SURVIVES, croupier, 1)
    }),
];

/// What is no message of a dealer. A player may do with it what it likes, other than to crash.
const NONSENSE: &[(&str, &[u8])] = &[
    ("a card that does not exist", b"CARD Eleven of Clubs\0"),
    ("an empty message", b"\0"),
    ("a CARD without a card", b"CARD\0"),
    ("300 bytes without NUL", &[b'C'; 300]),
    ("10,000 bytes without NUL", &[b'C'; 10_000]),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    // Starts the player and takes its JOIN.
    let join = |judge: &mut Judge, delivery| Croupier::welcome(judge, launcher, *options, delivery);
    let play = |judge: &mut Judge, delivery, game: Game| {
        let (mut croupier, run) = join(judge, delivery)?;
        game(judge, &mut croupier)?;
        quits(judge, options, croupier, run)
    };
    judge.play("a whole game", |judge| {
        play(judge, Delivery::Whole, |judge, croupier| {
            croupier.rounds(judge, ROUNDS)?;
            // What it has not understood so far is a card's name.
            goes_on(judge, &NAMES, croupier, ALL_CARDS)
        })
    })?;
    if judge.has_failed(&JOINS) {
        // It would be waited for in vain for each scenario.
        return Ok(());
    }
    let games = GAMES.iter().map(|&(name, rule, delivery, game)| {
        scene(name, move |judge| play(judge, delivery, game)).shows([rule, &NO_CRASH])
    });
    let nonsense = NONSENSE.iter().map(|&(name, bytes)| {
        scene(name, move |judge| {
            let (mut croupier, mut run) = join(judge, Delivery::Whole)?;
            croupier.say(DealerMessage::Begin);
            croupier.raw(bytes);
            let ended = croupier.is_left();
            let start = bytes.get(..24).unwrap_or(bytes).escape_ascii();
            judge.check(&BAD_MESSAGE, ended, || format!("it stays connected after '{start}'"));
            run.exit(Instant::now() + options.patience / 10);
            Ok(())
        })
        .shows([&BAD_MESSAGE, &NO_CRASH])
    });
    let gone = scene("the dealer goes away", |judge| {
        let (mut croupier, mut run) = join(judge, Delivery::Whole)?;
        croupier.deal(judge)?;
        drop(croupier);
        let exit = run.exit(options.deadline());
        judge.check(&DEALER_GONE, exit.as_ref().is_some_and(|exit| exit.code != Some(0)), || match exit {
            None => "it still runs after the connection was closed in the middle of a round".to_owned(),
            Some(_) => "it ended with status 0, as after QUIT".to_owned(),
        });
        Ok(())
    })
    .shows([&DEALER_GONE, &NO_CRASH]);
    judge.side_by_side(games.chain(nonsense).chain([gone]).collect())
}

/// Plays rounds, if the player has survived what came before. Else this rule is broken.
fn goes_on(judge: &mut Judge, rule: &'static Rule, croupier: &mut Croupier, rounds: usize) -> Played {
    croupier.blamed = rule;
    croupier.rounds(judge, rounds)
}

/// Sends QUIT and waits for the end of the program.
fn quits(judge: &mut Judge, options: &Options, mut croupier: Croupier, mut run: Box<dyn Run>) -> Played {
    croupier.say(DealerMessage::Quit);
    let left = croupier.is_left();
    let rest = croupier.connection.rest();
    judge.check(&QUIET, rest.is_empty(), || format!("it sent '{}' although nothing was asked", rest.escape_ascii()));
    judge.require(&QUITS, left, || "the connection is still open after QUIT".to_owned())?;
    drop(croupier);
    let exit = run.exit(options.deadline());
    judge.require(&QUITS, exit.is_some(), || "the program still runs after QUIT".to_owned())?;
    judge.check(&EXIT_STATUS, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || {
        format!("it did not end with status 0 after QUIT{}", run.obituary())
    });
    Ok(())
}
