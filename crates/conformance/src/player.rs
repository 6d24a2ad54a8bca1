mod tables;
mod test_dealer;

use std::time::{Duration, Instant};

use blackjack::{Action, Card, DealerMessage, Verdict};

use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::{Launcher, Run},
    ports::{free_tcp_port, take_tcp_port},
    refusal::{MORE, Refusal, RefusalTest, Values},
    rule::{Rule, rules},
    tester::{Options, Tester},
};
use Scenario::{End, Game, Invalid, Join, Refused};
use tables::{TablePlayer, Training};
use test_dealer::{Delivery, JoinArguments, TestDealer, USUAL_ARGUMENTS};

pub static TESTER: Tester = Tester {
    kind: "player",
    is_server: false,
    usual: "{name} {host} {port}",
    known: &["name", "host", "port", "table", "train"],
    needed: &["host", "port"],
    rules: RULES,
    takes_part: &[&ANSWERS, &NAMES, &UPCARDS, &NATURAL, &TWO_ACES, &RESULTS],
    play,
};

/// Enough rounds to show every card, since each opens with three.
const ALL_CARDS: usize = 18;
const ROUNDS: usize = 4;
const LONG: usize = 100;
/// How long the course's own dealers wait for an answer.
const WINDOW: Duration = Duration::from_millis(26);
const PAUSE: Duration = Duration::from_secs(2);
const ACE: u8 = 40;
const OTHER_ACE: u8 = 14;
const KING: u8 = 39;
const TWO: u8 = 2;
const THREE: u8 = 16;
const SIX: u8 = 19;
const NINE: u8 = 9;
const OTHER_NINE: u8 = 22;

const LONGEST_NAME: &str = "aNameOf64CharactersIsTheLongestThatThereIs0123456789abcdefghijkl";

enum Scenario {
    Game(&'static str, Delivery, fn(&mut Judge, &mut TestDealer) -> ScenarioResult),
    /// The player should close the connection, and may do anything but crash.
    Invalid(&'static str, &'static [u8]),
    Join(&'static str, JoinArguments),
    End(&'static str, fn(&mut Judge, TestDealer, Box<dyn Run>) -> ScenarioResult),
    Refused(&'static str, Values),
}

rules! {
    for Scenario;
    JOINS: Protocol(3, "Requirements, player 1, 2") "joins" in "protocols/blackjack.md#messages",
        "The player connects and sends JOIN with the given name before anything else",
        "Take name, host and port from the command line, connect, and send JOIN immediately. The dealer waits for it.";
    GRAMMAR: Protocol(2, "Requirements, messages: JOIN, HIT or STAND") "grammar" in "protocols/blackjack.md#messages",
        "Each message is JOIN, HIT or STAND, spelled exactly and terminated by one NUL",
        "Send the terminating zero byte, which strlen does not count. Send no newline and no lower case.";
    LONG_NAME: Advice "long-name" in "protocols/blackjack.md#messages",
        "The player sends all of a name of 64 characters",
        "JOIN and a name take up to 69 bytes, plus the zero byte.",
        Join("a name of 64 characters", JoinArguments { name: LONGEST_NAME, ..USUAL_ARGUMENTS });
    SHORT_NAME: Advice "short-name" in "protocols/blackjack.md#messages",
        "The player sends a name of one character unchanged",
        "A name has 1 to 64 characters.",
        Join("a name of one character", JoinArguments { name: "x", ..USUAL_ARGUMENTS });
    ODD_NAME: Advice "odd-name" in "protocols/blackjack.md#messages",
        "The player sends its name unchanged, whatever printable characters it contains",
        "Send the name as a string, not as a format of printf.",
        Join("a name with special characters", JoinArguments { name: "%s%n%d\"'\\`$(x);&|<>~", ..USUAL_ARGUMENTS });
    ONE_CONNECTION: Protocol(1, "Requirements, player 2") "one-connection" in "protocols/blackjack.md#messages",
        "The player opens one connection",
        "A second connection would take another seat: keep the first one.";
    HOST_NAME: Advice "host-name" in "protocols/blackjack.md#the-command-lines",
        "The player accepts a host name, such as localhost",
        "inet_addr accepts only numeric addresses. Use getaddrinfo, and try each address that it returns.",
        Join("a host name", JoinArguments { host: "localhost", ..USUAL_ARGUMENTS });
    ANSWERS: Protocol(4, "Requirements, messages: HIT or STAND") "answers" in "protocols/blackjack.md#messages",
        "The player answers each DECISION with HIT or STAND",
        "Answer every DECISION, including the one after a CARD that you took.";
    QUIET: Protocol(2, "Requirements, messages: DECISION") "quiet" in "protocols/blackjack.md#messages",
        "The player sends one answer for each DECISION and nothing else",
        "Answer only DECISION. CARD, DEALER and RESULT need no answer.";
    NAMES: Protocol(2, "Requirements, messages: CARD") "names" in "protocols/blackjack.md#cards-and-rules",
        "The player parses the names of all 52 cards",
        "A card is 'rank of suit' in words: Ten, Jack, Queen, King, Ace.";
    UPCARDS: Protocol(2, "Requirements, messages: DEALER") "upcards" in "protocols/blackjack.md#cards-and-rules",
        "The player parses all 52 cards in DEALER",
        "DEALER contains the name of a card, as CARD does.",
        Game("every card as the upcard", Delivery::Paced, |judge, dealer| {
            for upcard in Card::all().map(Card::number) {
                let low: Vec<u8> = [TWO, THREE, SIX].into_iter().filter(|&card| card != upcard).take(2).collect();
                dealer.stack(&[low[0], low[1], upcard]);
                dealer.rounds(judge, 1)?;
            }
            Ok(())
        });
    NATURAL: Protocol(1, "Requirements, messages: HIT or STAND") "natural" in "protocols/blackjack.md#messages",
        "The player answers with two cards that make 21",
        "This game has no blackjack: the dealer sends DECISION as for any other hand.",
        Game("two cards that make 21", Delivery::Paced, |judge, dealer| {
            dealer.stack(&[ACE, KING, SIX]);
            dealer.deal(judge);
            let stands = dealer.answers_with(judge, Action::Stand)?;
            judge.check(&STANDS_AT_21, stands, || "expected STAND at 21, received HIT".to_owned());
            dealer.result(Verdict::Win);
            dealer.rounds(judge, 1)
        });
    TWO_ACES: Protocol(1, "Implementation Spec: hand_getValue") "two-aces" in "protocols/blackjack.md#cards-and-rules",
        "The player answers with two aces, which make 12",
        "While the total is above 21 and an ace counts 11, count that ace as 1. A strategy table may have no row for 22.",
        Game("two aces", Delivery::Paced, |judge, dealer| {
            dealer.stack(&[ACE, OTHER_ACE, SIX]);
            dealer.rounds(judge, 1)
        });
    RESULTS: Protocol(3, "Requirements, messages: RESULT") "results" in "protocols/blackjack.md#messages",
        "The player continues after each of WIN, PUSH and LOOSE",
        "Parse all four results, then wait for BEGIN or QUIT.",
        Game("each RESULT", Delivery::Paced, |judge, dealer| {
            for verdict in [Verdict::Win, Verdict::Push, Verdict::Lose] {
                dealer.stack(&[NINE, OTHER_NINE, SIX]);
                dealer.deal(judge);
                dealer.hand(judge)?;
                dealer.result(verdict);
            }
            dealer.rounds(judge, 1)
        });
    MANY_ROUNDS: Protocol(6, "Requirements, player 3") "many-rounds" in "protocols/blackjack.md#messages",
        "The player plays 100 rounds as well as one",
        "Release the resources of each round, and use no list of a fixed size.",
        Game("a long game", Delivery::Paced, |judge, dealer| dealer.rounds(judge, LONG));
    PATIENT: Protocol(1, "Requirements, messages: DECISION") "patient" in "protocols/blackjack.md#hints",
        "The player waits for a dealer that pauses",
        "Do not limit the time of a read: the dealer may be waiting for other players.",
        Game("a dealer that pauses", Delivery::Paced, |judge, dealer| {
            dealer.pause = PAUSE.min(dealer.options.patience / 4);
            dealer.rounds(judge, 1)
        });
    PIECES: Advice "pieces" in "protocols/blackjack.md#hints",
        "The player accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the zero byte.",
        Game("messages byte by byte", Delivery::Bytes, |judge, dealer| dealer.rounds(judge, ROUNDS));
    MERGED: Advice "merged" in "protocols/blackjack.md#hints",
        "The player accepts several messages that arrive together, such as RESULT and the next round",
        "A read may return several messages: keep the bytes after the zero byte for the next one.",
        Game("messages in one segment", Delivery::Merged, |judge, dealer| dealer.rounds(judge, ROUNDS));
    STRADDLING: Advice "straddling" in "protocols/blackjack.md#hints",
        "The player accepts a segment with the end of one message and the start of the next",
        "Keep the bytes after the last zero byte until the rest arrives.",
        Game("segments that split messages", Delivery::Straddling, |judge, dealer| {
            dealer.rounds(judge, ROUNDS)
        });
    LOSE: Advice "lose" in "protocols/blackjack.md#messages",
        "The player accepts LOSE as another spelling of LOOSE",
        "Some dealers send LOSE. Accept both.",
        Game("a dealer that sends LOSE", Delivery::Paced, |judge, dealer| {
            dealer.deal(judge);
            dealer.hand(judge)?;
            dealer.raw(b"RESULT LOSE\0");
            dealer.rounds(judge, 1)
        });
    BEGIN_AGAIN: Protocol(1, "Requirements, messages: BEGIN") "begin-again" in "protocols/blackjack.md#hints",
        "At BEGIN in the middle of a round the player drops its hand and starts a new round",
        "Clear the hand at BEGIN, not at RESULT.",
        Game("BEGIN in the middle of a round", Delivery::Paced, |judge, dealer| {
            dealer.deal(judge);
            dealer.answer(judge)?;
            dealer.rounds(judge, 1)
        });
    QUITS: Protocol(2, "Requirements, messages: QUIT") "quits" in "protocols/blackjack.md#hints",
        "The player closes the connection after QUIT",
        "Handle QUIT wherever a message may arrive, then close the connection.";
    QUIT_AT_ONCE: Advice "quit-at-once" in "protocols/blackjack.md#hints",
        "The player exits when it receives QUIT before any round",
        "Handle QUIT where you expect BEGIN.",
        End("QUIT before any round", |judge, dealer, run| {
            quits(judge, dealer, run, (&QUIT_AT_ONCE, &QUIT_AT_ONCE))
        });
    QUIT_IN_ROUND: Advice "quit-in-round" in "protocols/blackjack.md#hints",
        "The player exits when it receives QUIT in the middle of a round",
        "Handle QUIT wherever a message may arrive.",
        End("QUIT in the middle of a round", |judge, mut dealer, run| {
            dealer.send(DealerMessage::Begin);
            dealer.card();
            quits(judge, dealer, run, (&QUIT_IN_ROUND, &QUIT_IN_ROUND))
        });
    QUIT_AND_CLOSE: Protocol(1, "Requirements, messages: QUIT") "quit-and-close" in "protocols/blackjack.md#messages",
        "The player processes a QUIT that arrives with the end of the connection, and exits with status 0",
        "Process all received data before you handle the end of the connection.",
        End("QUIT together with the end of the connection", |judge, mut dealer, mut run| {
            dealer.deal(judge);
            dealer.hand(judge)?;
            dealer.result(Verdict::Push);
            dealer.send(DealerMessage::Quit);
            let options = dealer.options;
            drop(dealer);
            let exit = run.exit(options.deadline());
            judge.check(&QUIT_AND_CLOSE, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
                None => "expected the player to exit after QUIT and the end of the connection, but it is still running"
                    .to_owned(),
                Some(_) => format!("expected exit status 0{}", run.exit_clause()),
            });
            Ok(())
        });
    ENDS: Protocol(1, "Requirements, messages: QUIT") "ends" in "protocols/blackjack.md#hints",
        "The program exits after QUIT",
        "End all threads, and do not wait for a key.";
    NO_CRASH: Protocol(4, "Implementation Spec: Error handling and recovery") "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player does not crash, whatever a dealer sends or does",
        "Check lengths before you copy into a buffer, and the result of a parser before you use it.";
    EXIT_STATUS: Protocol(1, "Implementation Spec: Play") "exit-status" in "protocols/blackjack.md#hints",
        "After QUIT the player exits with status 0",
        "QUIT is the normal end: return 0 from main.";
    MISSING: Protocol(2, "Requirements, player 1") "missing-arguments" in "protocols/blackjack.md#the-command-lines",
        "Without arguments, or without the port, the player exits with a nonzero status",
        "Check argc before you use argv.",
        Refused("without arguments", &[("name", None), ("host", None), ("port", None)]),
        Refused("without the port", &[("port", None)]);
    PORT_WORD: Protocol(1, "Implementation Spec: Error handling and recovery") "port-word" in "protocols/blackjack.md#the-command-lines",
        "If the port is not a number, the player exits with a nonzero status",
        "atoi returns 0 for a word that is not a number. Use strtol, which returns the end of the number.",
        Refused("with the port 'port'", &[("port", Some("port"))]);
    PORT_RANGE: Protocol(1, "Implementation Spec: Error handling and recovery") "port-too-large" in "protocols/blackjack.md#the-command-lines",
        "If the port is above 65535, the player exits with a nonzero status",
        "A port has 16 bits: htons drops the higher bits, so you connect to another port.",
        Refused("with the dealer's port plus 65536", &[("port", Some("{port+65536}"))]);
    NO_DEALER: Protocol(2, "Implementation Spec: Error handling and recovery") "no-dealer" in "protocols/blackjack.md#the-command-lines",
        "If no dealer listens on the port, the player exits with a nonzero status",
        "Check the result of connect.";
    SURVIVES: Advice "survives" in "protocols/blackjack.md#hints",
        "The player continues after a repeated card and after RESULT without a DECISION",
        "Use the dealer's messages as they are, without checking its cards.",
        Game("a RESULT before any DECISION", Delivery::Paced, |judge, dealer| {
            dealer.send(DealerMessage::Begin);
            dealer.send(DealerMessage::Result(Verdict::Win));
            dealer.rounds(judge, 1)
        }),
        Game("a repeated card", Delivery::Paced, |judge, dealer| {
            dealer.send(DealerMessage::Begin);
            for card in [Card::new(2), Card::new(2)].into_iter().flatten() {
                dealer.send(DealerMessage::Card(card));
            }
            dealer.rounds(judge, 1)
        });
    BAD_MESSAGE: Advice "bad-message" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player closes the connection after an unknown message",
        "After an invalid message the stream cannot be parsed any further: close the connection.",
        Invalid("an empty message", b"\0"),
        Invalid("an unknown word", b"SHUFFLE\0");
    DEALER_GONE: Advice "dealer-gone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection ends without QUIT, the player exits with a nonzero status",
        "A read that returns 0 before QUIT is an error: report it and return 1.",
        End("the dealer disconnects", |judge, mut dealer, run| {
            dealer.deal(judge);
            // An unread answer would turn the close into a reset.
            dealer.answer(judge)?;
            let options = dealer.options;
            drop(dealer);
            ends_with_error(judge, &options, run, &DEALER_GONE, "was closed in the middle of a round");
            Ok(())
        });
    BAD_CARD: Advice "bad-card" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player closes the connection after an invalid card",
        "Check that rank and suit are both valid words.",
        Invalid("a card with an unknown rank", b"CARD Eleven of Clubs\0"),
        Invalid("a card with an unknown suit", b"CARD Two of Stars\0"),
        Invalid("a CARD without a card", b"CARD\0");
    TOO_LONG: Advice "too-long" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The player closes the connection after more than 256 bytes without a zero byte",
        "A message has at most 256 bytes. Without a limit, a dealer can fill your memory.",
        Invalid("300 bytes without NUL", &[b'C'; 300]),
        Invalid("10,000 bytes without NUL", &[b'C'; 10_000]);
    GONE_EARLY: Advice "gone-early" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection ends before the first round, the player exits with a nonzero status",
        "A read that returns 0 before QUIT is an error, even if no card was dealt.",
        End("the dealer disconnects before the first round", |judge, dealer, run| {
            let options = dealer.options;
            drop(dealer);
            ends_with_error(judge, &options, run, &GONE_EARLY, "was closed before the first round");
            Ok(())
        });
    RESET: Advice "reset" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection is reset, the player exits with a nonzero status",
        "A failed read is an error: report it and return 1.",
        End("the connection is reset", |judge, mut dealer, run| {
            dealer.deal(judge);
            dealer.answer(judge)?;
            dealer.connection.reset();
            ends_with_error(judge, &dealer.options, run, &RESET, "was reset in the middle of a round");
            Ok(())
        });
    PROMPT: Advice "prompt" in "protocols/blackjack.md#hints",
        "The player answers within the 26 ms that the dealers of the course wait",
        "Answer immediately: do not sleep, and set TCP_NODELAY.";
    STANDS_AT_21: Advice "stands-at-21" in "protocols/blackjack.md#cards-and-rules",
        "The player stands at 21",
        "No card can improve 21.";
    HITS_LOW: Advice "hits-low" in "protocols/blackjack.md#cards-and-rules",
        "The player takes a card if no card can make it bust",
        "Below 12, HIT is never worse than STAND.",
        Game("two low cards", Delivery::Paced, |judge, dealer| {
            dealer.stack(&[TWO, THREE, NINE]);
            dealer.deal(judge);
            let hits = dealer.answers_with(judge, Action::Hit)?;
            judge.check(&HITS_LOW, hits, || "expected HIT at 5 against a nine, received STAND".to_owned());
            dealer.result(Verdict::Lose);
            Ok(())
        });
    TRAILING: Advice "trailing-letters" in "protocols/blackjack.md#the-command-lines",
        "If letters follow the port, the player exits with a nonzero status",
        "strtol returns the end of the number, which must be the end of the word.",
        Refused("with an 'x' after the dealer's port", &[("port", Some("{port}x"))]);
    EMPTY_NAME: Advice "empty-name" in "protocols/blackjack.md#the-command-lines",
        "If the name is empty, the player exits with a nonzero status",
        "A name has at least one character.",
        Refused("with an empty name", &[("name", Some(""))]);
    NAME_TOO_LONG: Advice "name-too-long" in "protocols/blackjack.md#the-command-lines",
        "If the name has 65 characters, the player exits with a nonzero status",
        "A name has at most 64 characters.",
        Refused(
            "with a name of 65 characters",
            &[("name", Some("a-name-of-65-characters-is-longer-than-the-longest-one-0123456789"))],
        );
    BLANK_IN_NAME: Advice "blank-in-name" in "protocols/blackjack.md#the-command-lines",
        "If the name contains a blank, the player exits with a nonzero status",
        "A blank ends a word: the dealer would parse another message.",
        Refused("with the name 'two words'", &[("name", Some("two words"))]);
    EXTRA: Advice "extra-argument" in "protocols/blackjack.md#the-command-lines",
        "With an extra argument, the player exits with a nonzero status",
        "Compare argc with the exact number.",
        Refused("with an extra argument", &[(MORE, Some("5"))]);
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/blackjack.md#the-command-lines",
        "With an unknown option, the player exits with a nonzero status",
        "Reject each argument that you do not know.",
        Refused("with the option --no-such-option", &[(MORE, Some("--no-such-option"))]);
    TRAINS: Advice "trains" in "blackjack.md#tables",
        "A training run writes a table, and the player exits with status 0 after QUIT",
        "Write the learned table to the given file before you close the connection.";
    PLAYS_TABLE: Advice "plays-by-its-table" in "blackjack.md#tables",
        "The player plays by the table that its training has written",
        "Read back everything that you write, including states that were never visited.";
    LEAVES_TABLE: Advice "leaves-its-table" in "blackjack.md#tables",
        "A game without training does not change the table",
        "Open the file read-only, and write it only after training.";
    TRAINS_ON: Advice "trains-on" in "blackjack.md#tables",
        "A training run continues with an existing table and writes a readable one",
        "Replace the old table: fopen with mode \"a\" leaves two in one file.";
    CUT_TABLE: Advice "cut-table" in "blackjack.md#tables",
        "The player rejects a truncated table with the reason, and does not change it",
        "Count the values that you read: at EOF, fscanf leaves the variables unchanged.";
    EMPTY_TABLE: Advice "empty-table" in "blackjack.md#tables",
        "The player rejects an empty table with the reason, and does not change it",
        "An empty file is not the same as a missing file.";
    NAN_TABLE: Advice "table-of-nan" in "blackjack.md#tables",
        "The player rejects a table of NaN with the reason, and does not change it",
        "strtod and Python's float() accept nan, and every comparison with NaN is false. Check each number.";
    TWICE_TABLE: Advice "table-twice" in "blackjack.md#tables",
        "The player rejects a file with two tables with the reason, and does not change it",
        "Check that nothing follows the last state.";
    GARBAGE_TABLE: Advice "garbage-table" in "blackjack.md#tables",
        "The player rejects a table of random bytes with the reason, and does not change it",
        "Start a table with a word that no other file starts with.";
    LARGE_TABLE: Advice "large-table" in "blackjack.md#tables",
        "The player rejects a table of 1 GiB with the reason, and does not change it",
        "Check the size before you read, or limit how much you read.";
    EXPLAINS: Advice "explains" in "protocols/blackjack.md#the-command-lines",
        "A player that rejects its arguments prints the reason on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let mut training = Training::open(judge, launcher, *options)?;
    let begins = training.as_ref().map_or(TablePlayer { launcher, table: None, trains: false }, Training::untrained);
    let (mut joins, mut is_over) = (false, false);
    judge.play("a whole game", |judge| {
        let (mut dealer, run) = TestDealer::start(judge, &begins, *options, Delivery::Paced, USUAL_ARGUMENTS)?;
        joins = true;
        dealer.rounds(judge, ROUNDS)?;
        dealer.shows_all = true;
        judge.under(&NAMES, |judge| dealer.rounds(judge, ALL_CARDS))?;
        let fastest = dealer.fastest;
        judge.check(&PROMPT, fastest < WINDOW, || {
            format!(
                "expected an answer within the time of the course's dealers, but the fastest took {} ms",
                fastest.as_millis()
            )
        });
        judge.check(&ONE_CONNECTION, !dealer.has_second(), || {
            "expected one connection, received a second one".to_owned()
        });
        quits(judge, dealer, run, (&QUITS, &ENDS))?;
        is_over = true;
        Ok(())
    })?;
    if !joins {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    let mut table = None;
    if let Some(learned) = &mut training {
        if learned.has_learned(judge, is_over)? {
            table = Some(learned.copy("usual")?);
        } else {
            training = None;
        }
    }
    let launcher: &dyn Launcher = &TablePlayer { launcher, table, trains: false };
    let join = |judge: &mut Judge, delivery| TestDealer::start(judge, launcher, *options, delivery, USUAL_ARGUMENTS);
    let mut refusals = Vec::new();
    let mut scenes = Vec::new();
    for &(rule, ref scenario) in SCENARIOS {
        scenes.push(match *scenario {
            Game(name, delivery, game) => {
                let play = move |judge: &mut Judge| {
                    let (mut dealer, run) = join(judge, delivery)?;
                    judge.under(rule, |judge| game(judge, &mut dealer))?;
                    quits(judge, dealer, run, (&QUITS, &ENDS))
                };
                let also = if *rule == NATURAL { &STANDS_AT_21 } else { rule };
                scene(name, play).shows([rule, also, &NO_CRASH])
            }
            Invalid(name, bytes) => scene(name, move |judge| {
                let (dealer, run) = join(judge, Delivery::Paced)?;
                reads_invalid(judge, dealer, run, rule, bytes);
                Ok(())
            })
            .shows([rule, &NO_CRASH]),
            Join(name, call) => {
                let play = move |judge: &mut Judge| {
                    if *rule == HOST_NAME {
                        // A player may accept only addresses.
                        judge.judges_crashes();
                    }
                    let call = JoinArguments { rule, ..call };
                    let (mut dealer, run) = TestDealer::start(judge, launcher, *options, Delivery::Paced, call)?;
                    dealer.rounds(judge, 1)?;
                    quits(judge, dealer, run, (&QUITS, &ENDS))
                };
                scene(name, move |judge| judge.under(rule, play)).shows([rule, &NO_CRASH])
            }
            End(name, end) => scene(name, move |judge| {
                let (dealer, run) = join(judge, Delivery::Paced)?;
                end(judge, dealer, run)
            })
            .shows([rule, &NO_CRASH]),
            Refused(how, values) => {
                refusals.push(Refusal { rule, how, values });
                continue;
            }
        });
    }
    scenes.push(scene("no dealer listens", |judge| no_dealer(judge, launcher, options)).shows([&NO_DEALER]));
    let values = || {
        let (held, port) = take_tcp_port()?;
        Ok((
            vec![
                ("name", USUAL_ARGUMENTS.name.into()),
                ("host", USUAL_ARGUMENTS.host.into()),
                ("port", port.to_string()),
            ],
            Some(held),
        ))
    };
    scenes.extend(RefusalTest { launcher, options: *options, explains: &EXPLAINS, values }.scenes(refusals));
    scenes.extend(training.iter().flat_map(Training::scenes));
    judge.side_by_side(scenes)
}

fn no_dealer(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> ScenarioResult {
    let (name, host) = (USUAL_ARGUMENTS.name.to_owned(), USUAL_ARGUMENTS.host.to_owned());
    let mut run = judge.start(launcher, &[("name", name), ("host", host), ("port", free_tcp_port()?.to_string())])?;
    judge.refuses(&NO_DEALER, &mut *run, options.deadline(), "the player, started without a dealer");
    Ok(())
}

fn reads_invalid(judge: &mut Judge, mut dealer: TestDealer, mut run: Box<dyn Run>, rule: &'static Rule, bytes: &[u8]) {
    dealer.send(DealerMessage::Begin);
    dealer.raw(bytes);
    let ended = dealer.is_closed();
    let start = bytes.get(..24).unwrap_or(bytes).escape_ascii();
    judge.check(rule, ended, || format!("expected the end of the connection after '{start}', but it is still open"));
    run.exit(Instant::now() + dealer.options.patience / 10);
}

fn ends_with_error(judge: &mut Judge, options: &Options, mut run: Box<dyn Run>, rule: &'static Rule, what: &str) {
    let exit = run.exit(options.deadline());
    judge.check(rule, exit.as_ref().is_some_and(|exit| exit.code != Some(0)), || match exit {
        None => format!("expected the player to exit after the connection {what}, but it is still running"),
        Some(_) => format!("expected a nonzero exit status after the connection {what}, received 0, as after QUIT"),
    });
}

fn quits(
    judge: &mut Judge,
    mut dealer: TestDealer,
    mut run: Box<dyn Run>,
    (closes, ends): (&'static Rule, &'static Rule),
) -> ScenarioResult {
    dealer.send(DealerMessage::Quit);
    let left = dealer.is_closed();
    let (rest, options) = (dealer.connection.rest(), dealer.options);
    judge.check(&QUIET, rest.is_empty(), || {
        format!("expected nothing without a DECISION, received '{}'", rest.escape_ascii())
    });
    judge.require(closes, left, || "expected the end of the connection after QUIT, but it is still open".to_owned())?;
    drop(dealer);
    let exit = run.exit(options.deadline());
    judge.require(ends, exit.is_some(), || {
        "expected the player to exit after QUIT, but it is still running".to_owned()
    })?;
    let status = if *ends == ENDS { &EXIT_STATUS } else { ends };
    judge.check(status, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || {
        format!("expected exit status 0 after QUIT{}", run.exit_clause())
    });
    Ok(())
}
