//! Tests players of blackjack.

mod croupier;
mod rules;
mod tables;

use std::time::{Duration, Instant};

use blackjack::{Action, Card, DealerMessage, Verdict};

use crate::{
    judge::{Judge, Played, scene},
    launch::{Launcher, Run},
    ports::{free_tcp_port, take_tcp_port},
    refusal::{Desk, MORE, Refusal, refusal},
    rule::Rule,
    tester::{Options, Tester},
};
use croupier::{CALL, Call, Croupier, Delivery};
use rules::{
    BAD_CARD, BAD_MESSAGE, BEGIN_AGAIN, BLANK_IN_NAME, DEALER_GONE, EMPTY_NAME, ENDS, EXIT_STATUS, EXPLAINS, EXTRA,
    GONE_EARLY, HITS_LOW, HOST_NAME, LONG_NAME, LOSE, MANY_ROUNDS, MERGED, MISSING, NAME_TOO_LONG, NAMES, NATURAL,
    NO_CRASH, NO_DEALER, ODD_NAME, ONE_CONNECTION, PATIENT, PIECES, PORT_RANGE, PORT_WORD, PROMPT, QUIET,
    QUIT_AND_CLOSE, QUIT_AT_ONCE, QUIT_IN_ROUND, QUITS, RESET, RESULTS, RULES, SHORT_NAME, STANDS_AT_21, STRADDLING,
    SURVIVES, TOO_LONG, TRAILING, TWO_ACES, UNKNOWN_OPTION, UPCARDS,
};
use tables::{Pupil, School};

pub static TESTER: Tester = Tester {
    kind: "player",
    is_server: false,
    usual: "{name} {host} {port}",
    known: &["name", "host", "port", "table", "train"],
    needed: &["host", "port"],
    rules: RULES,
    takes_part: &[&rules::ANSWERS, &NAMES, &UPCARDS, &NATURAL, &TWO_ACES, &RESULTS],
    play,
};

/// The number of rounds that are needed to show every card. Each round opens with three cards.
const ALL_CARDS: usize = 18;
/// The number of rounds in the other scenarios.
const ROUNDS: usize = 4;
/// The number of rounds in a long game.
const LONG: usize = 100;
/// How long the course's own dealers wait for an answer.
const WINDOW: Duration = Duration::from_millis(26);
/// The longest pause of a dealer that pauses.
const PAUSE: Duration = Duration::from_secs(2);
/// The numbers of some cards.
const ACE: u8 = 40;
const OTHER_ACE: u8 = 14;
const KING: u8 = 39;
const TWO: u8 = 2;
const THREE: u8 = 16;
const SIX: u8 = 19;
const NINE: u8 = 9;
const OTHER_NINE: u8 = 22;

/// The part of a scenario before QUIT.
type Game = fn(&mut Judge, &mut Croupier) -> Played;

/// The scenarios that end with QUIT, other than a whole game, each with its rule.
const GAMES: &[(&str, &Rule, Delivery, Game)] = &[
    ("messages byte by byte", &PIECES, Delivery::Bytes, |judge, croupier| croupier.rounds(judge, ROUNDS)),
    ("messages in one segment", &MERGED, Delivery::Merged, |judge, croupier| croupier.rounds(judge, ROUNDS)),
    ("segments that split messages", &STRADDLING, Delivery::Straddling, |judge, croupier| {
        croupier.rounds(judge, ROUNDS)
    }),
    ("a long game", &MANY_ROUNDS, Delivery::Paced, |judge, croupier| croupier.rounds(judge, LONG)),
    ("every card as the upcard", &UPCARDS, Delivery::Paced, |judge, croupier| {
        for upcard in Card::all().map(Card::number) {
            let low: Vec<u8> = [TWO, THREE, SIX].into_iter().filter(|&card| card != upcard).take(2).collect();
            croupier.stack(&[low[0], low[1], upcard]);
            croupier.rounds(judge, 1)?;
        }
        Ok(())
    }),
    ("two cards that make 21", &NATURAL, Delivery::Paced, |judge, croupier| {
        croupier.stack(&[ACE, KING, SIX]);
        croupier.deal(judge);
        let stands = croupier.answers_with(judge, Action::Stand)?;
        judge.check(&STANDS_AT_21, stands, || "expected STAND at 21, received HIT".to_owned());
        croupier.result(Verdict::Win);
        croupier.rounds(judge, 1)
    }),
    ("two aces", &TWO_ACES, Delivery::Paced, |judge, croupier| {
        croupier.stack(&[ACE, OTHER_ACE, SIX]);
        croupier.rounds(judge, 1)
    }),
    ("two low cards", &HITS_LOW, Delivery::Paced, |judge, croupier| {
        croupier.stack(&[TWO, THREE, NINE]);
        croupier.deal(judge);
        let hits = croupier.answers_with(judge, Action::Hit)?;
        judge.check(&HITS_LOW, hits, || "expected HIT at 5 against a nine, received STAND".to_owned());
        croupier.result(Verdict::Lose);
        Ok(())
    }),
    ("each RESULT", &RESULTS, Delivery::Paced, |judge, croupier| {
        for verdict in [Verdict::Win, Verdict::Push, Verdict::Lose] {
            croupier.stack(&[NINE, OTHER_NINE, SIX]);
            croupier.deal(judge);
            croupier.hand(judge)?;
            croupier.result(verdict);
        }
        croupier.rounds(judge, 1)
    }),
    ("a dealer that pauses", &PATIENT, Delivery::Paced, |judge, croupier| {
        croupier.pause = PAUSE.min(croupier.options.patience / 4);
        croupier.rounds(judge, 1)
    }),
    ("a dealer that sends LOSE", &LOSE, Delivery::Paced, |judge, croupier| {
        croupier.deal(judge);
        croupier.hand(judge)?;
        croupier.raw(b"RESULT LOSE\0");
        croupier.rounds(judge, 1)
    }),
    ("BEGIN in the middle of a round", &BEGIN_AGAIN, Delivery::Paced, |judge, croupier| {
        croupier.deal(judge);
        croupier.answer(judge)?;
        croupier.rounds(judge, 1)
    }),
    ("a RESULT before any DECISION", &SURVIVES, Delivery::Paced, |judge, croupier| {
        croupier.say(DealerMessage::Begin);
        croupier.say(DealerMessage::Result(Verdict::Win));
        croupier.rounds(judge, 1)
    }),
    ("a repeated card", &SURVIVES, Delivery::Paced, |judge, croupier| {
        croupier.say(DealerMessage::Begin);
        for card in [Card::new(2), Card::new(2)].into_iter().flatten() {
            croupier.say(DealerMessage::Card(card));
        }
        croupier.rounds(judge, 1)
    }),
];

/// Invalid dealer messages, each with the rule that it ends the connection. A player may also react in any other way,
/// except with a crash.
const NONSENSE: &[(&str, &Rule, &[u8])] = &[
    ("a card with an unknown rank", &BAD_CARD, b"CARD Eleven of Clubs\0"),
    ("a card with an unknown suit", &BAD_CARD, b"CARD Two of Stars\0"),
    ("a CARD without a card", &BAD_CARD, b"CARD\0"),
    ("an empty message", &BAD_MESSAGE, b"\0"),
    ("an unknown word", &BAD_MESSAGE, b"SHUFFLE\0"),
    ("300 bytes without NUL", &TOO_LONG, &[b'C'; 300]),
    ("10,000 bytes without NUL", &TOO_LONG, &[b'C'; 10_000]),
];

/// Different arguments for joining.
const CALLS: &[(&str, &Rule, Call)] = &[
    ("a name of 64 characters", &LONG_NAME, Call { name: LONGEST_NAME, rule: &LONG_NAME, ..CALL }),
    ("a name of one character", &SHORT_NAME, Call { name: "x", rule: &SHORT_NAME, ..CALL }),
    ("a name with special characters", &ODD_NAME, Call { name: "%s%n%d\"'\\`$(x);&|<>~", rule: &ODD_NAME, ..CALL }),
    ("a host name", &HOST_NAME, Call { host: "localhost", rule: &HOST_NAME, ..CALL }),
];

const LONGEST_NAME: &str = "aNameOf64CharactersIsTheLongestThatThereIs0123456789abcdefghijkl";

static REFUSALS: [Refusal; 10] = [
    refusal(&MISSING, "without arguments", &[("name", None), ("host", None), ("port", None)]),
    refusal(&MISSING, "without the port", &[("port", None)]),
    refusal(&PORT_WORD, "with the port 'port'", &[("port", Some("port"))]),
    refusal(&PORT_RANGE, "with the dealer's port plus 65536", &[("port", Some("{port+65536}"))]),
    refusal(&TRAILING, "with an 'x' after the dealer's port", &[("port", Some("{port}x"))]),
    refusal(&EMPTY_NAME, "with an empty name", &[("name", Some(""))]),
    refusal(
        &NAME_TOO_LONG,
        "with a name of 65 characters",
        &[("name", Some("a-name-of-65-characters-is-longer-than-the-longest-one-0123456789"))],
    ),
    refusal(&BLANK_IN_NAME, "with the name 'two words'", &[("name", Some("two words"))]),
    refusal(&EXTRA, "with an extra argument", &[(MORE, Some("5"))]),
    refusal(&UNKNOWN_OPTION, "with the option --no-such-option", &[(MORE, Some("--no-such-option"))]),
];

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let mut school = School::open(judge, launcher, *options)?;
    let begins = school.as_ref().map_or(Pupil { launcher, table: None, trains: false }, School::beginner);
    let (mut joins, mut is_over) = (false, false);
    judge.play("a whole game", |judge| {
        let (mut croupier, run) = Croupier::welcome(judge, &begins, *options, Delivery::Paced, CALL)?;
        joins = true;
        croupier.rounds(judge, ROUNDS)?;
        croupier.shows_all = true;
        judge.under(&NAMES, |judge| croupier.rounds(judge, ALL_CARDS))?;
        let fastest = croupier.fastest;
        judge.check(&PROMPT, fastest < WINDOW, || {
            format!(
                "expected an answer within the time of the course's dealers, but the fastest took {} ms",
                fastest.as_millis()
            )
        });
        judge.check(&ONE_CONNECTION, !croupier.has_second(), || {
            "expected one connection, received a second one".to_owned()
        });
        quits(judge, croupier, run, (&QUITS, &ENDS))?;
        is_over = true;
        Ok(())
    })?;
    if !joins {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    // All other scenarios use the learned table, if there is one.
    let mut table = None;
    if let Some(learned) = &mut school {
        if learned.has_learned(judge, is_over)? {
            table = Some(learned.copy("usual")?);
        } else {
            school = None;
        }
    }
    let launcher: &dyn Launcher = &Pupil { launcher, table, trains: false };
    // Starts the player and receives its JOIN.
    let join = |judge: &mut Judge, delivery| Croupier::welcome(judge, launcher, *options, delivery, CALL);
    let games = GAMES.iter().map(|&(name, rule, delivery, game)| {
        let play = move |judge: &mut Judge| {
            let (mut croupier, run) = join(judge, delivery)?;
            judge.under(rule, |judge| game(judge, &mut croupier))?;
            quits(judge, croupier, run, (&QUITS, &ENDS))
        };
        // A hand may be an observation of two rules.
        let also = if *rule == NATURAL { &STANDS_AT_21 } else { rule };
        scene(name, play).shows([rule, also, &NO_CRASH])
    });
    let nonsense = NONSENSE.iter().map(|&(name, rule, bytes)| {
        scene(name, move |judge| {
            let (mut croupier, mut run) = join(judge, Delivery::Paced)?;
            croupier.say(DealerMessage::Begin);
            croupier.raw(bytes);
            let ended = croupier.is_left();
            let start = bytes.get(..24).unwrap_or(bytes).escape_ascii();
            judge.check(rule, ended, || {
                format!("expected the end of the connection after '{start}', but it is still open")
            });
            run.exit(Instant::now() + options.patience / 10);
            Ok(())
        })
        .shows([rule, &NO_CRASH])
    });
    let calls = CALLS.iter().map(|&(name, rule, call)| {
        let play = move |judge: &mut Judge| {
            if *rule == HOST_NAME {
                // A player may accept only addresses.
                judge.judges_crashes();
            }
            let (mut croupier, run) = Croupier::welcome(judge, launcher, *options, Delivery::Paced, call)?;
            croupier.rounds(judge, 1)?;
            quits(judge, croupier, run, (&QUITS, &ENDS))
        };
        scene(name, move |judge| judge.under(rule, play)).shows([rule, &NO_CRASH])
    });
    let ends = ENDS_OF_GAMES.iter().map(|&(name, rule, end)| {
        scene(name, move |judge| {
            let (croupier, run) = join(judge, Delivery::Paced)?;
            end(judge, croupier, run)
        })
        .shows([rule, &NO_CRASH])
    });
    let no_dealer = scene("no dealer listens", |judge| {
        let port = free_tcp_port()?.to_string();
        let values = [("name", CALL.name.to_owned()), ("host", CALL.host.to_owned()), ("port", port)];
        let mut run = judge.start(launcher, &values)?;
        judge.refuses(&NO_DEALER, &mut *run, options.deadline(), "the player, started without a dealer");
        Ok(())
    })
    .shows([&NO_DEALER]);
    let values = || {
        let (held, port) = take_tcp_port()?;
        Ok((vec![("name", CALL.name.into()), ("host", CALL.host.into()), ("port", port.to_string())], Some(held)))
    };
    let refusals = Desk { launcher, options: *options, explains: &EXPLAINS, values }.scenes(&REFUSALS);
    let tables = school.iter().flat_map(School::scenes);
    let scenes = games.chain(nonsense).chain(calls).chain(ends).chain([no_dealer]).chain(refusals).chain(tables);
    judge.side_by_side(scenes.collect())
}

/// A scenario that ends the game without a RESULT as the last message.
type End = fn(&mut Judge, Croupier, Box<dyn Run>) -> Played;

const ENDS_OF_GAMES: &[(&str, &Rule, End)] = &[
    ("QUIT before any round", &QUIT_AT_ONCE, |judge, croupier, run| {
        quits(judge, croupier, run, (&QUIT_AT_ONCE, &QUIT_AT_ONCE))
    }),
    ("QUIT in the middle of a round", &QUIT_IN_ROUND, |judge, mut croupier, run| {
        croupier.say(DealerMessage::Begin);
        croupier.card();
        quits(judge, croupier, run, (&QUIT_IN_ROUND, &QUIT_IN_ROUND))
    }),
    ("QUIT together with the end of the connection", &QUIT_AND_CLOSE, |judge, mut croupier, mut run| {
        croupier.deal(judge);
        croupier.hand(judge)?;
        croupier.result(Verdict::Push);
        croupier.say(DealerMessage::Quit);
        let options = croupier.options;
        drop(croupier);
        let exit = run.exit(options.deadline());
        judge.check(&QUIT_AND_CLOSE, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
            None => "expected the player to exit after QUIT and the end of the connection, but it is still running"
                .to_owned(),
            Some(_) => format!("expected exit status 0{}", run.obituary()),
        });
        Ok(())
    }),
    ("the dealer disconnects", &DEALER_GONE, |judge, mut croupier, run| {
        croupier.deal(judge);
        // An unread answer would turn the close into a reset.
        croupier.answer(judge)?;
        let options = croupier.options;
        drop(croupier);
        is_left_alone(judge, &options, run, &DEALER_GONE, "was closed in the middle of a round");
        Ok(())
    }),
    ("the dealer disconnects before the first round", &GONE_EARLY, |judge, croupier, run| {
        let options = croupier.options;
        drop(croupier);
        is_left_alone(judge, &options, run, &GONE_EARLY, "was closed before the first round");
        Ok(())
    }),
    ("the connection is reset", &RESET, |judge, mut croupier, run| {
        croupier.deal(judge);
        croupier.answer(judge)?;
        croupier.connection.reset();
        is_left_alone(judge, &croupier.options, run, &RESET, "was reset in the middle of a round");
        Ok(())
    }),
];

fn is_left_alone(judge: &mut Judge, options: &Options, mut run: Box<dyn Run>, rule: &'static Rule, what: &str) {
    let exit = run.exit(options.deadline());
    judge.check(rule, exit.as_ref().is_some_and(|exit| exit.code != Some(0)), || match exit {
        None => format!("expected the player to exit after the connection {what}, but it is still running"),
        Some(_) => format!("expected a nonzero exit status after the connection {what}, received 0, as after QUIT"),
    });
}

/// Sends QUIT and waits for the exit of the program. The rules are broken if it does not close the connection, and if
/// it does not exit.
fn quits(
    judge: &mut Judge,
    mut croupier: Croupier,
    mut run: Box<dyn Run>,
    (closes, ends): (&'static Rule, &'static Rule),
) -> Played {
    croupier.say(DealerMessage::Quit);
    let left = croupier.is_left();
    let (rest, options) = (croupier.connection.rest(), croupier.options);
    judge.check(&QUIET, rest.is_empty(), || {
        format!("expected nothing without a DECISION, received '{}'", rest.escape_ascii())
    });
    judge.require(closes, left, || "expected the end of the connection after QUIT, but it is still open".to_owned())?;
    drop(croupier);
    let exit = run.exit(options.deadline());
    judge.require(ends, exit.is_some(), || {
        "expected the player to exit after QUIT, but it is still running".to_owned()
    })?;
    let status = if *ends == ENDS { &EXIT_STATUS } else { ends };
    judge.check(status, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || {
        format!("expected exit status 0 after QUIT{}", run.obituary())
    });
    Ok(())
}
