mod chance;
mod table;

use std::{
    io::Write as _,
    net::TcpStream,
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use blackjack::{DealerMessage, Dialect, PlayerMessage, Verdict, hand::BEST};

use self::table::{Arrival, Dealer, Seat, SharedTotals, Style, Table};
use crate::{
    judge::{Judge, ScenarioResult, scene},
    launch::Launcher,
    ports::{free_tcp_port, take_tcp_port},
    refusal::{MORE, Refusal, RefusalTest, Values},
    report::Sender,
    rule::{Rule, rules},
    tester::{Options, Tester},
    words::blackjack::cards,
};
use Scenario::{Refused, Scene};

pub static TESTER: Tester = Tester {
    kind: "dealer",
    is_server: true,
    usual: "{port} {rounds}",
    known: &["port", "rounds", "players"],
    needed: &["port", "rounds"],
    rules: RULES,
    takes_part: &[&HIT, &RESULT, &BUST, &FAIR],
    play,
};

/// A game takes about 6 seconds if the dealer pauses 50 ms after each message.
const GAME_ROUNDS: u32 = 12;
/// The limit of games until each kind of hand has occurred. With a good shuffle, one mostly suffices.
const MORE_GAMES: usize = 24;
/// For a running server: its number of rounds is unknown, so additional rounds are not errors.
const ANY: u32 = u32::MAX;

/// The course's dealers play at most 100,000 rounds.
const MANY: u32 = 60_000;
/// The least time limit for `MANY` rounds, which a slow program on a busy machine needs to show that it stands on a
/// soft 17.
const LONGEST: Duration = Duration::from_secs(60);
/// The pause between two dealers, so that seeds from the time in seconds differ.
const APART: Duration = Duration::from_millis(1100);
/// Pairs of dealers that start at the same time. On a busy machine, the start of a pair may cross a second.
const PAIRS: usize = 3;
/// Different stopping totals reveal the dealer's total.
const STOPS: [Style; 6] =
    [Style::Until(17), Style::Until(18), Style::Until(19), Style::Modest, Style::Until(20), Style::Until(15)];

struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

impl Subject<'_> {
    fn start(&self, judge: &mut Judge, rounds: u32, players: usize) -> anyhow::Result<Dealer> {
        self.start_at(judge, free_tcp_port()?, rounds, players)
    }

    fn start_at(&self, judge: &mut Judge, port: u16, rounds: u32, players: usize) -> anyhow::Result<Dealer> {
        let address = self.launcher.address().unwrap_or_else(|| ([127, 0, 0, 1], port).into());
        let (port, rounds, players) = (port.to_string(), rounds.to_string(), players.to_string());
        let run = judge.start(self.launcher, &[("port", port), ("rounds", rounds), ("players", players)])?;
        Ok(Dealer { run, address, options: self.options })
    }

    fn table(&self, judge: &mut Judge, rounds: u32, styles: &[Style]) -> ScenarioResult<Table> {
        let dealer = self.start(judge, rounds, styles.len())?;
        Table::seat_players(judge, dealer, styles)
    }
}

enum Scenario {
    /// The name, the other rules that it observes by design, and the actions. A rule of [`OF_SEVERAL`] needs several
    /// players.
    Scene(&'static str, &'static [&'static Rule], fn(&mut Judge, &Subject<'_>) -> ScenarioResult),
    Refused(&'static str, Values),
}

pub(super) static OF_SEVERAL: [&Rule; 16] = [
    &WAITS,
    &SAME_NAME,
    &SAME_UPCARD,
    &RESULT_AT_END,
    &OTHERS_HIDDEN,
    &OTHERS,
    &LEAVES,
    &LEAVES_EARLY,
    &LEAVES_LATE,
    &RESETS,
    &HALF_CLOSES,
    &FLOODS,
    &SENDS_AHEAD,
    &PLAYERS_ZERO,
    &PLAYERS_WORD,
    &PLAYERS_MANY,
];

rules! {
    for Scenario;
    LISTENS: Protocol(1, "Requirements, dealer 2") "listens" in "protocols/blackjack.md#messages",
        "The dealer accepts connections on its port",
        "Listen before you do anything else, on the port from the command line. Bind to all addresses or to 127.0.0.1.";
    SPEAKS_SECOND: Protocol(1, "Requirements, messages: JOIN") "speaks-second" in "protocols/blackjack.md#messages",
        "The dealer sends nothing on a connection before it receives JOIN",
        "The player sends first: its first byte selects the dialect of the connection.",
        Scene("a client that joins late", &[&LATE_JOIN], slow);
    GRAMMAR: Protocol(3, "Requirements, dealer 3") "grammar" in "protocols/blackjack.md#messages",
        "Each message is BEGIN, CARD, DEALER, DECISION, RESULT or QUIT, spelled exactly and terminated by one NUL",
        "Send the terminating zero byte, which strlen does not count. The protocol spells LOOSE with two Os.";
    ROUND_BEGINS: Protocol(2, "Requirements, messages: BEGIN") "round-begins" in "protocols/blackjack.md#messages",
        "The dealer starts the first round with BEGIN when all players have joined, and each further round after RESULT",
        "JOIN has no reply. Send BEGIN as the first message, when the announced number of players has joined.";
    WAITS: Advice "waits-for-all" in "protocols/blackjack.md#messages",
        "The dealer starts no round before all seats of the table are taken",
        "Accept all players first, then deal.",
        Scene("a player joins long after another", &[], waits);
    LONG_NAME: Advice "long-name" in "protocols/blackjack.md#messages",
        "The dealer accepts a player name of 64 characters",
        "JOIN and a name take up to 69 bytes, plus the zero byte.",
        Scene("a name of 64 characters", &[&NO_CRASH], |judge, subject| {
            named(judge, subject, &LONG_NAME, &["aNameOf64CharactersIsTheLongestThatThereIs0123456789abcdefghijkl"])
        });
    SHORT_NAME: Advice "short-name" in "protocols/blackjack.md#messages",
        "The dealer accepts a player name of one character",
        "A name has 1 to 64 characters.",
        Scene("a name of one character", &[&NO_CRASH], |judge, subject| named(judge, subject, &SHORT_NAME, &["x"]));
    ODD_NAME: Advice "odd-name" in "protocols/blackjack.md#messages",
        "The dealer accepts all printable characters in a name, such as %s or a quotation mark",
        "Do not use a name as a format: write printf(\"%s\", name).",
        Scene("a name with special characters", &[&NO_CRASH], |judge, subject| {
            named(judge, subject, &ODD_NAME, &["%s%n%d\"'\\`$(x);&|<>~"])
        });
    SAME_NAME: Advice "same-name" in "protocols/blackjack.md#messages",
        "The dealer accepts two players with the same name",
        "Identify players by their connections.",
        Scene("two players with the same name", &[&NO_CRASH], |judge, subject| {
            named(judge, subject, &SAME_NAME, &["twin", "twin"])
        });
    DEAL: Protocol(3, "Requirements, messages: CARD, DEALER") "deal" in "protocols/blackjack.md#messages",
        "After BEGIN the dealer sends two CARDs, DEALER and, when it is the player's turn, DECISION",
        "Send two CARDs, then DEALER with the dealer's first card. The dealer's second card stays hidden.";
    NATURAL: Protocol(1, "Requirements, messages: HIT or STAND") "natural" in "protocols/blackjack.md#cards-and-rules",
        "The dealer sends DECISION for two cards that make 21, and no early RESULT",
        "This game has no blackjack: an ace and a ten are 21, and the player answers STAND.";
    ONE_DECK: Protocol(2, "Requirements, dealer 3, a deck of 52 cards") "one-deck" in "protocols/blackjack.md#cards-and-rules",
        "The dealer deals no card twice in a round, neither to one player nor to the whole table",
        "All hands of a round share one deck. Draw each card from the remaining deck, not at random from all 52.";
    SHUFFLED: Protocol(2, "Requirements, dealer 3, shuffle") "shuffled" in "protocols/blackjack.md#cards-and-rules",
        "The dealer shuffles a new deck for each round",
        "Seed the generator once, at startup. srand(time(NULL)) before each shuffle deals the same cards for a whole second.";
    UNIFORM: Advice "uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is equally likely at each position of the players' first two cards",
        "Swap each position with one that is not final yet (Fisher-Yates). Swapping with any position favours some orders.";
    UPCARD_UNIFORM: Protocol(1, "Requirements, dealer 3, shuffle") "upcard-uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card is equally likely to be the dealer's upcard",
        "Take the dealer's cards from the same shuffled deck as all others.";
    DRAWN_UNIFORM: Protocol(1, "Requirements, dealer 3, shuffle") "drawn-uniform" in "protocols/blackjack.md#cards-and-rules",
        "Each card that is not on the table yet is equally likely to follow HIT",
        "Take the next card of the deck. If you choose a card by its value, or put cards back, some become more likely.";
    NEIGHBOURS: Protocol(1, "Requirements, dealer 3, shuffle") "neighbours" in "protocols/blackjack.md#cards-and-rules",
        "Each card is independent of the card dealt before it",
        "Shuffle single cards. If you only cut the deck or keep pairs together, neighbouring cards stay neighbours.";
    WHOLE_DECK: Protocol(1, "Requirements, dealer 3, a deck of 52 cards") "whole-deck" in "protocols/blackjack.md#cards-and-rules",
        "The cards of a round appear in the next round as often as a full deck predicts",
        "Put all cards back and shuffle before each round. Do not continue with the rest of the deck.";
    FRESH: Protocol(1, "Requirements, dealer 3, shuffle") "fresh-cards" in "protocols/blackjack.md#cards-and-rules",
        "A dealer that is restarted later deals different cards",
        "Seed the generator at startup, for example with srand(time(NULL)). Without srand, rand() repeats the same numbers.";
    SAME_UPCARD: Advice "same-upcard" in "protocols/blackjack.md#cards-and-rules",
        "The dealer sends the same upcard to all players",
        "A table has one dealer and one deck.";
    HIT: Protocol(2, "Requirements, messages: HIT or STAND") "hit" in "protocols/blackjack.md#messages",
        "The dealer sends one CARD after HIT",
        "Send one CARD for each HIT, then wait for the next answer.";
    ASKED_AGAIN: Protocol(2, "Requirements, messages: HIT or STAND") "asked-again" in "protocols/blackjack.md#messages",
        "The dealer sends DECISION after a CARD that makes less than 21",
        "Check the total after each card, and send DECISION unless it is above 21.";
    ASKED_AT_21: Protocol(1, "Requirements, messages: HIT or STAND") "asked-at-21" in "protocols/blackjack.md#messages",
        "The dealer sends DECISION after a CARD that makes exactly 21",
        "Send DECISION at exactly 21 too: the player answers STAND.";
    ACE_ONE: Protocol(1, "Implementation Spec: hand_getValue") "ace-counts-1" in "protocols/blackjack.md#cards-and-rules",
        "The dealer counts an ace as 1 if 11 would make the hand bust, and sends DECISION",
        "While the total is above 21 and an ace counts 11, count that ace as 1. Two aces are 12.";
    BUST_ENDS: Protocol(1, "Requirements, messages: HIT or STAND") "bust-ends" in "protocols/blackjack.md#messages",
        "The dealer sends no DECISION after a CARD that makes more than 21",
        "Before you send DECISION, check the total. Count aces as 1 where 11 is too much.";
    RESULT: Protocol(3, "Requirements, messages: RESULT") "result" in "protocols/blackjack.md#messages",
        "The dealer ends the round of a player who stands with one RESULT: WIN, LOOSE or PUSH",
        "Send one RESULT to each player at the end of the round. BUST is only for hands above 21.";
    BUST: Protocol(1, "Requirements, messages: RESULT") "bust" in "protocols/blackjack.md#messages",
        "The dealer ends the round of a hand above 21 with RESULT BUST",
        "A player who is bust loses, even if the dealer is bust too.";
    BEST_HAND: Protocol(1, "Implementation Spec: calculateGameResult") "21-never-loses" in "protocols/blackjack.md#cards-and-rules",
        "The dealer never sends RESULT LOOSE for a hand of 21",
        "A dealer who is not bust has at most 21: compare with less-than, not with less-or-equal.";
    LOW_TIE: Protocol(1, "Implementation Spec: dealer, main") "low-never-ties" in "protocols/blackjack.md#cards-and-rules",
        "The dealer never sends RESULT PUSH for a hand below 17",
        "The dealer draws until it has 17 or more, so it has at least 17 or is bust. Draw before you compare totals.";
    FAIR: Protocol(2, "Implementation Spec: calculateGameResult") "fair" in "protocols/blackjack.md#cards-and-rules",
        "All RESULTs of a round are consistent with one total of the dealer",
        "Compare each hand with the same final hand of the dealer, not with another player's hand.";
    WINS: Protocol(2, "Implementation Spec: calculateGameResult") "wins" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, the share of WIN matches the rules",
        "Check that the dealer draws until it has 17 and that totals are compared in the right direction. A dealer who is bust draws no more.";
    PUSHES: Protocol(1, "Implementation Spec: calculateGameResult") "pushes" in "protocols/blackjack.md#cards-and-rules",
        "Over many rounds, the share of PUSH matches the rules",
        "Equal totals are PUSH, not WIN or LOOSE.";
    UPCARDS: Protocol(1, "Implementation Spec: hand_getValue") "upcards" in "protocols/blackjack.md#cards-and-rules",
        "For each upcard, the players' mean winnings match the rules",
        "An ace of the dealer counts 11 unless the hand would be bust. Pictures count 10.";
    SOFT_17: Protocol(1, "Implementation Spec: dealer, main") "soft-17" in "protocols/blackjack.md#cards-and-rules",
        "The dealer stands on a soft 17 as on any other 17",
        "Some casinos draw on an ace and a six. This dealer stands.";
    RESULT_AT_END: Advice "result-at-end" in "protocols/blackjack.md#messages",
        "The dealer sends RESULT, including BUST, only when the hands of all players are complete",
        "After a bust, continue with the next player. Send all RESULTs after the last player.";
    OTHERS_HIDDEN: Advice "others-hidden" in "protocols/blackjack.md#messages",
        "The dealer does not send the cards of one player to another",
        "Send a card only to its own player.";
    PIECES: Advice "pieces" in "protocols/blackjack.md#hints",
        "The dealer accepts messages that arrive byte by byte",
        "A read may return a part of a message: collect bytes up to the zero byte, and keep the rest.",
        Scene("a player that sends single bytes", &[], |judge, subject| {
            judge.under(&PIECES, |judge| subject.table(judge, 3, &[Style::Bytes])?.play(judge, 0, 3))
        });
    ROUNDS: Protocol(12, "Requirements, dealer 1") "rounds" in "protocols/blackjack.md#messages",
        "The dealer plays the number of rounds given on the command line",
        "Count from 1 up to and including the number from the command line.";
    QUIT: Protocol(4, "Requirements, dealer 4") "quit" in "protocols/blackjack.md#messages",
        "The dealer sends QUIT after the RESULT of the last round",
        "Send QUIT to each player before you close the connection.";
    CLOSES: Protocol(1, "Implementation Spec: closeServer") "closes" in "protocols/blackjack.md#messages",
        "The dealer closes the connection after QUIT",
        "After QUIT, close the connection of each player, not only the listening socket.";
    NOTHING_MORE: Protocol(1, "Requirements, dealer 4") "nothing-after-quit" in "protocols/blackjack.md#messages",
        "The dealer sends nothing after QUIT",
        "Send QUIT as the last message, after all RESULTs.";
    NO_CRASH: Protocol(4, "Implementation Spec: Error handling and recovery") "no-crash" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer does not crash, whatever a player sends or does",
        "Check lengths before you copy into a buffer. Ignore SIGPIPE: a player may disconnect at any time.";
    OTHERS: Advice "others" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player breaks the protocol, the other players finish all rounds",
        "Remove that player from the game. Do not end the program.";
    LEAVES: Advice "leaves-when-asked" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player leaves during its own turn, the other players finish all rounds",
        "A read that returns 0 means that this player has disconnected. Continue with the next player.",
        Scene("a player leaves during its turn", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &LEAVES, When::Asked, |_| None)
        });
    LEAVES_EARLY: Advice "leaves-before-its-turn" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player leaves before its turn, the other players finish all rounds",
        "Sending to a player who has left fails or raises SIGPIPE. Ignore the signal, and check the result of send.",
        Scene("a player leaves before its turn", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &LEAVES_EARLY, When::BeforeItsTurn, |_| None)
        });
    LEAVES_LATE: Advice "leaves-after-its-turn" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player leaves after standing, the other players finish all rounds",
        "Sending RESULT or BEGIN to a player who has left fails: remove that player from the game.",
        Scene("a player leaves after its turn", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &LEAVES_LATE, When::AfterItsTurn, |_| None)
        });
    RESETS: Advice "neighbour-resets" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the connection of a player is reset, the other players finish all rounds",
        "A read that fails with ECONNRESET affects only one player.",
        Scene("the connection of a player is reset", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &RESETS, When::Asked, |seat| {
                seat.connection.reset();
                None
            })
        });
    HALF_CLOSES: Advice "neighbour-half-closes" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player closes its sending side during its turn, the other players finish all rounds",
        "A read that returns 0 is no answer: do not repeat it in a loop.",
        Scene("a player closes its sending side during its turn", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &HALF_CLOSES, When::Asked, |seat| {
                seat.connection.end_sending();
                Some(seat)
            })
        });
    FLOODS: Advice "neighbour-floods" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player sends without end, the other players finish all rounds",
        "Stop reading after 256 bytes without a zero byte. Otherwise the dealer never reads from the other players.",
        Scene("a player sends without end", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &FLOODS, When::Asked, |mut seat| {
                flood(&mut seat);
                Some(seat)
            })
        });
    SENDS_AHEAD: Advice "neighbour-sends-ahead" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player sends answers before DECISION, the other players finish all rounds",
        "Use the data of one player only for the decisions of that player.",
        Scene("a player answers before its turn", &[&NO_CRASH], |judge, subject| {
            troubled(judge, subject, &SENDS_AHEAD, When::BeforeItsTurn, |mut seat| {
                seat.connection.send(&b"HIT\0".repeat(20));
                Some(seat)
            })
        });
    LATECOMERS: Advice "latecomers" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "Clients that connect during a game do not disturb it",
        "Serve the players of the game. Leave further connections in the queue, or close them.",
        Scene("clients that connect during a game", &[&NO_CRASH], latecomers);
    MISSING: Protocol(2, "Implementation Spec: Testing plan, dealer") "missing-arguments" in "protocols/blackjack.md#the-command-lines",
        "Without arguments, or without the number of rounds, the dealer exits with a nonzero status",
        "Check argc before you use argv.",
        Refused("without arguments", &[("port", None), ("rounds", None), ("players", None)]),
        Refused("without the number of rounds", &[("rounds", None)]);
    PORT_WORD: Protocol(1, "Implementation Spec: Testing plan, dealer") "port-word" in "protocols/blackjack.md#the-command-lines",
        "If the port is not a number, the dealer exits with a nonzero status",
        "atoi returns 0 for a word that is not a number. Use strtol, which returns the end of the number.",
        Refused("with the port 'port'", &[("port", Some("port"))]);
    PORT_RANGE: Protocol(1, "Implementation Spec: Error handling and recovery") "port-too-large" in "protocols/blackjack.md#the-command-lines",
        "If the port is above 65535, the dealer exits with a nonzero status",
        "A port has 16 bits: htons drops the higher bits, so you listen on another port.",
        Refused("with port 65536", &[("port", Some("65536"))]);
    PORT_TAKEN: Protocol(2, "Implementation Spec: Error handling and recovery") "port-taken" in "protocols/blackjack.md#the-command-lines",
        "If its port is in use, the dealer exits with a nonzero status",
        "Check the results of bind and listen.",
        Scene("a port in use", &[], taken);
    ROUNDS_WORD: Protocol(1, "Implementation Spec: Testing plan, dealer") "rounds-word" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is not a number, the dealer exits with a nonzero status",
        "Check that the word is a number.",
        Refused("with 'many' rounds", &[("rounds", Some("many"))]);
    ROUNDS_ZERO: Protocol(1, "Implementation Spec: Error handling and recovery") "rounds-zero" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is 0, the dealer exits with a nonzero status",
        "A game has at least one round.",
        Refused("with 0 rounds", &[("rounds", Some("0"))]);
    ROUNDS_NEGATIVE: Protocol(1, "Implementation Spec: Error handling and recovery") "rounds-negative" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is negative, the dealer exits with a nonzero status",
        "An unsigned conversion turns -3 into a huge number: check the sign.",
        Refused("with -3 rounds", &[("rounds", Some("-3"))]);
    PLAYERS_ZERO: Advice "players-zero" in "protocols/blackjack.md#the-command-lines",
        "If the number of seats is 0, the dealer exits with a nonzero status",
        "A table has at least one seat.",
        Refused("with 0 seats", &[("players", Some("0"))]);
    PLAYERS_WORD: Advice "players-word" in "protocols/blackjack.md#the-command-lines",
        "If the number of seats is not a number, the dealer exits with a nonzero status",
        "Check that the word is a number.",
        Refused("with 'two' seats", &[("players", Some("two"))]);
    EARLY_ANSWER: Advice "early-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer does not use an early answer for the next DECISION",
        "Discard pending input of a player before you send DECISION.",
        Scene("a player answers twice", &[&NO_CRASH], |judge, subject| {
            for _ in 0..ATTEMPTS {
                if answers_twice(judge, subject)? {
                    break;
                }
            }
            Ok(())
        });
    OFFENDER: Advice "offender" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If a player breaks the protocol, the dealer sends at most QUIT, no WIN or PUSH, and closes the connection",
        "If a player sends an unexpected message, close its connection. You may send QUIT first.";
    BAD_JOIN: Advice "bad-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "If the first message is not JOIN, the dealer closes that connection and keeps the seat free",
        "Close that connection, and accept another player for the seat.",
        Scene("a client that does not join", &[&NO_CRASH], |judge, subject| {
            judge.under(&BAD_JOIN, |judge| bad_join(judge, subject))
        });
    HALF_CLOSE: Advice "half-close" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer sends RESULT to a player who closes its sending side after the last answer",
        "A read that returns 0 means that the player sends no more. It may still receive: send the pending messages.",
        Scene("a player closes its sending side", &[&NO_CRASH], half_closes);
    SEEDED: Advice "seeded" in "protocols/blackjack.md#cards-and-rules",
        "Two dealers that start at the same time deal different cards",
        "A seed from the clock is the same for all programs within a second. Use the random source of the system.";
    EXIT_STATUS: Advice "exit-status" in "protocols/blackjack.md#messages",
        "After the last round the dealer exits with status 0",
        "Return 0 from main when all connections are closed.";
    PLAYERS_MANY: Advice "players-too-many" in "protocols/blackjack.md#the-command-lines",
        "With more than six seats, the dealer exits with a nonzero status",
        "A table has at most six seats.",
        Refused("with 7 seats", &[("players", Some("7"))]);
    ROUNDS_MANY: Advice "rounds-too-many" in "protocols/blackjack.md#the-command-lines",
        "If the number of rounds is too large for an integer, the dealer exits with a nonzero status",
        "strtol sets errno to ERANGE.",
        Refused("with 99999999999999999999 rounds", &[("rounds", Some("99999999999999999999"))]);
    TRAILING: Advice "trailing-letters" in "protocols/blackjack.md#the-command-lines",
        "If letters follow a number, the dealer exits with a nonzero status",
        "strtol returns the end of the number, which must be the end of the word.",
        Refused("with '12x' rounds", &[("rounds", Some("12x"))]),
        Refused("with '1.5' rounds", &[("rounds", Some("1.5"))]);
    EMPTY: Advice "empty-argument" in "protocols/blackjack.md#the-command-lines",
        "If a number is an empty word, the dealer exits with a nonzero status",
        "strtol reads no digits and returns 0: check its end pointer.",
        Refused("with an empty word for the rounds", &[("rounds", Some(""))]);
    EXTRA: Advice "extra-argument" in "protocols/blackjack.md#the-command-lines",
        "With an extra argument, the dealer exits with a nonzero status",
        "Compare argc with the exact number.",
        Refused("with one argument more", &[(MORE, Some("5"))]);
    UNKNOWN_OPTION: Advice "unknown-option" in "protocols/blackjack.md#the-command-lines",
        "With an unknown option, the dealer exits with a nonzero status",
        "Reject each argument that you do not know.",
        Refused("with the option --no-such-option", &[(MORE, Some("--no-such-option"))]);
    EXPLAINS: Advice "explains" in "protocols/blackjack.md#the-command-lines",
        "A dealer that rejects its arguments prints the reason on standard error",
        "Write a line with fprintf(stderr, ...) before you exit.";
    LATE_JOIN: Advice "late-join" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer accepts a JOIN that arrives some time after the connection",
        "Wait as long for JOIN as for an answer, not only a millisecond.";
    LATE_ANSWER: Advice "late-answer" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer waits for a slow answer",
        "Give people time: 30 seconds, not 26 milliseconds.",
        Scene("a player that answers late", &[], late_answer);
    VISITOR: Advice "visitor" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "A client that connects and disconnects without JOIN takes no seat",
        "Assign the seat at JOIN, not at accept.",
        Scene("a visitor", &[&NO_CRASH], |judge, subject| judge.under(&VISITOR, |judge| visitor(judge, subject)));
    ALONE: Advice "alone" in "protocols/blackjack.md#when-a-peer-does-something-else",
        "The dealer exits when all players have left",
        "Count the remaining players, and stop at zero.",
        Scene("the only player leaves", &[&NO_CRASH], alone);
    RESTART: Advice "restart" in "protocols/blackjack.md#the-command-lines",
        "A new dealer can listen on the port of one that has just ended",
        "Set SO_REUSEADDR before bind.",
        Scene("restart on the same port", &[], |judge, subject| judge.under(&RESTART, |judge| restart(judge, subject)));
}

fn play(judge: &mut Judge, launcher: &dyn Launcher, options: &Options) -> anyhow::Result<()> {
    let subject = Subject { launcher, options: *options };
    if launcher.address().is_some() {
        return judge.play("the running dealer's game", |judge| {
            let styles = [Style::Mixed, Style::Greedy, Style::Modest].into_iter().cycle();
            let styles: Vec<_> = styles.take(options.players.into()).collect();
            subject.table(judge, ANY, &styles)?.play(judge, 0, ANY)
        });
    }
    let totals = SharedTotals::default();
    judge.play("a whole game", |judge| whole_game(judge, &subject, &[Style::Mixed], &totals))?;
    if judge.has_failed(&LISTENS) {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    let mut styles: &[Style] = &[Style::Mixed];
    if launcher.takes("players") {
        styles = &[Style::Greedy, Style::Mixed, Style::Modest];
        judge.play("three players", |judge| whole_game(judge, &subject, styles, &totals))?;
    } else {
        judge.leave_out(OF_SEVERAL, "the command has no {players}");
    }
    let rare = [&NATURAL, &ASKED_AGAIN, &ASKED_AT_21, &ACE_ONE, &BEST_HAND, &LOW_TIE];
    let many =
        [&WINS, &PUSHES, &UPCARDS, &SOFT_17, &UNIFORM, &UPCARD_UNIFORM, &DRAWN_UNIFORM, &NEIGHBOURS, &WHOLE_DECK];
    let mut scenes = vec![
        scene("games until each kind of hand has occurred", |judge| {
            let mut games = 0..MORE_GAMES;
            let by = Instant::now() + 6 * subject.options.patience;
            let is_open = || {
                let totals = totals.lock();
                totals.lacks_events() && !totals.chance.is_strange()
            };
            while is_open() && games.next().is_some() && Instant::now() < by {
                whole_game(judge, &subject, styles, &totals)?;
            }
            Ok(())
        }),
        scene("many rounds", |judge| many_rounds(judge, &subject, &totals)).shows(rare.into_iter().chain(many)),
        scene("two dealers that start at the same time", |judge| two_dealers(judge, &subject, &totals))
            .shows([&SEEDED, &FRESH]),
    ];
    let subject = &subject;
    let mut refusals = Vec::new();
    for &(rule, ref scenario) in SCENARIOS {
        match *scenario {
            Scene(name, also, run) if launcher.takes("players") || !OF_SEVERAL.contains(&rule) => {
                scenes.push(
                    scene(name, move |judge| run(judge, subject)).shows([rule].into_iter().chain(also.iter().copied())),
                );
            }
            Scene(..) => {}
            Refused(how, values) => refusals.push(Refusal { rule, how, values }),
        }
    }
    scenes.extend(OFFENCES.iter().map(|&(name, bytes)| {
        scene(name, move |judge| offends(judge, subject, bytes)).shows([&OFFENDER, &OTHERS, &NO_CRASH])
    }));
    scenes.extend(
        INVALID_JOINS
            .iter()
            .map(|&(name, bytes)| scene(name, move |judge| joins_strangely(judge, subject, bytes)).shows([&NO_CRASH])),
    );
    let values = || {
        let values = [("port", free_tcp_port()?.to_string()), ("rounds", "2".to_owned()), ("players", "1".to_owned())];
        Ok((values.into(), None))
    };
    scenes.extend(RefusalTest { launcher, options: *options, explains: &EXPLAINS, values }.scenes(refusals));
    judge.side_by_side(scenes)?;
    judge.play("all rounds together", |judge| {
        totals.lock().chance.judge(judge);
        Ok(())
    })
}

fn whole_game(judge: &mut Judge, subject: &Subject<'_>, styles: &[Style], totals: &SharedTotals) -> ScenarioResult {
    let mut table = subject.table(judge, GAME_ROUNDS, styles)?;
    table.totals = totals.clone();
    let played = table.play(judge, 0, GAME_ROUNDS);
    if played.is_ok() {
        let run = &mut table.dealer.run;
        let exit = run.exit(subject.options.deadline());
        judge.check(&EXIT_STATUS, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
            None => "expected the dealer to exit after QUIT and the end of all connections, but it is still running"
                .to_owned(),
            Some(_) => format!("expected exit status 0{}", run.exit_clause()),
        });
    }
    played
}

fn many_rounds(judge: &mut Judge, subject: &Subject<'_>, totals: &SharedTotals) -> ScenarioResult {
    let styles = if subject.launcher.takes("players") { &STOPS[..] } else { &STOPS[..1] };
    let mut table = subject.table(judge, MANY, styles)?;
    table.totals = totals.clone();
    let (start, patience) = (Instant::now(), subject.options.patience);
    table.play_on(judge, MANY, (start + 3 * patience, start + LONGEST.max(12 * patience)))
}

fn two_dealers(judge: &mut Judge, subject: &Subject<'_>, totals: &SharedTotals) -> ScenarioResult {
    let first = totals.lock().first.clone();
    if let Some((dealt, _)) = &first {
        // A generator that is seeded with the time in seconds needs another second.
        thread::sleep(APART.saturating_sub(dealt.elapsed()));
    }
    for _ in 0..PAIRS {
        // At the beginning of a second, so that both dealers start within it.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        thread::sleep(Duration::from_secs(1).saturating_sub(Duration::from_nanos(now.subsec_nanos().into())));
        let mut tables = Vec::new();
        for dealer in [subject.start(judge, 1, 1)?, subject.start(judge, 1, 1)?] {
            tables.push(Table::seat_players(judge, dealer, &[Style::Modest])?);
        }
        let mut openings = Vec::new();
        for mut table in tables {
            table.deal(judge, 0, 1)?;
            openings.push(table.opening);
        }
        let dealt = openings.first().map_or_else(String::new, cards);
        let again = first.as_ref().is_some_and(|(_, first)| openings.contains(first));
        judge.check(&FRESH, !again, || {
            format!("expected other cards than in an earlier start, but the first round was dealt again: {dealt}")
        });
        let differ = judge.check(&SEEDED, openings.first() != openings.last(), || {
            format!("expected different cards from two dealers, but both dealt {dealt}")
        });
        if !differ {
            break;
        }
    }
    Ok(())
}

/// The limit of games until the cards allow the player a second decision. Dealers that are seeded with the time in
/// seconds repeat cards.
const ATTEMPTS: usize = 24;

const OFFENCES: &[(&str, &[u8])] = &[
    ("a player answers with an unknown word", b"FOLD\0"),
    ("a player answers in lower case", b"hit\0"),
    ("a player answers with an extra space", b"STAND \0"),
    ("a player sends an empty message", b"\0"),
    ("a player joins twice", b"JOIN again\0"),
    ("a player sends a word of the dealer", b"BEGIN\0"),
    ("a player sends 300 bytes without NUL", &[b'H'; 300]),
];

/// Sent instead of JOIN. A dealer may do anything but crash.
const INVALID_JOINS: &[(&str, &[u8])] = &[
    ("a client that leaves before JOIN", b""),
    ("a name of 300 bytes", &strange_name()),
    ("10,000 bytes instead of JOIN", &[b'J'; 10_000]),
];

const fn strange_name() -> [u8; 306] {
    let mut join = [b'n'; 306];
    [join[0], join[1], join[2], join[3], join[4], join[305]] = *b"JOIN \0";
    join
}

fn named(judge: &mut Judge, subject: &Subject<'_>, rule: &'static Rule, names: &[&str]) -> ScenarioResult {
    judge.under(rule, |judge| {
        let mut dealer = subject.start(judge, 1, names.len())?;
        let mut seats = Vec::new();
        for (number, name) in (1..).zip(names) {
            let mut seat = Seat::connect(judge, &mut dealer, number)?;
            // A greedy player answers several questions, so the unread bytes of its JOIN are taken as an invalid
            // answer.
            seat.style = Style::Greedy;
            seat.join(name)?;
            seats.push(seat);
        }
        Table::of(dealer, seats).play(judge, 0, 1)
    })
}

fn waits(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dealer = subject.start(judge, 1, 2)?;
    let mut first = Seat::connect(judge, &mut dealer, 1)?;
    first.style = Style::Modest;
    first.join("tester1")?;
    let received = first.receive(judge, Instant::now() + subject.options.patience / 20);
    judge.require(&WAITS, received == Arrival::Nothing, || {
        format!("expected nothing before the second of two players has joined, received {received}")
    })?;
    let mut second = Seat::connect(judge, &mut dealer, 2)?;
    second.style = Style::Modest;
    second.join("tester2")?;
    judge.under(&WAITS, |judge| Table::of(dealer, vec![first, second]).play(judge, 0, 1))
}

fn slow(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dealer = subject.start(judge, 1, 1)?;
    let mut seat = Seat::connect(judge, &mut dealer, 1)?;
    seat.style = Style::Modest;
    let received = seat.receive(judge, Instant::now() + subject.options.patience / 20);
    judge.require(&SPEAKS_SECOND, !matches!(received, Arrival::Message(_)), || {
        format!("expected nothing before JOIN, received {received}")
    })?;
    seat.join("tester1")?;
    judge.under(&LATE_JOIN, |judge| Table::of(dealer, vec![seat]).play(judge, 0, 1))
}

fn late_answer(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.next_question(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    let early = seat.receive(judge, Instant::now() + subject.options.patience / 10);
    seat.send(&PlayerMessage::Stand);
    let received = if early == Arrival::Nothing { seat.receive(judge, subject.options.deadline()) } else { early };
    judge.check(&LATE_ANSWER, matches!(received, Arrival::Message(DealerMessage::Result(_))), || {
        format!("expected RESULT after a late STAND, received {received}")
    });
    Ok(())
}

fn visitor(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dealer = subject.start(judge, 1, 1)?;
    drop(Seat::connect(judge, &mut dealer, 1)?);
    Table::seat_players(judge, dealer, &[Style::Modest])?.play(judge, 0, 1)
}

fn alone(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut table = subject.table(judge, 2, &[Style::Modest])?;
    table.deal(judge, 0, 2)?;
    table.next_question(judge, 0)?;
    table.seats.clear();
    let exit = table.dealer.run.exit(subject.options.deadline());
    judge.check(&ALONE, exit.is_some(), || {
        "expected the dealer to exit after its only player has left, but it is still running".to_owned()
    });
    Ok(())
}

fn restart(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let port = free_tcp_port()?;
    for _ in 0..2 {
        let dealer = subject.start_at(judge, port, 1, 1)?;
        let mut table = Table::seat_players(judge, dealer, &[Style::Modest])?;
        table.play(judge, 0, 1)?;
        table.dealer.run.exit(subject.options.deadline());
    }
    Ok(())
}

fn taken(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let (held, port) = take_tcp_port()?;
    let mut dealer = subject.start_at(judge, port, 1, 1)?;
    judge.refuses(&PORT_TAKEN, &mut *dealer.run, subject.options.deadline(), "the dealer, started on a port in use");
    drop(held);
    Ok(())
}

const SHORT_GAME: u32 = 2;
const FLOOD: usize = 4 << 20;
static CHUNK: [u8; 1 << 16] = [b'H'; 1 << 16];
/// For a dealer that does not read or does not accept connections.
const STUCK: Duration = Duration::from_millis(200);
const LATE: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Asked,
    BeforeItsTurn,
    AfterItsTurn,
}

/// Breaks the protocol. Returns the seat if its connection stays open.
type Trouble = fn(Seat) -> Option<Seat>;

fn troubled(
    judge: &mut Judge,
    subject: &Subject<'_>,
    rule: &'static Rule,
    when: When,
    trouble: Trouble,
) -> ScenarioResult {
    let mut table = subject.table(judge, SHORT_GAME, &[Style::Modest, Style::Modest])?;
    table.deal(judge, 0, SHORT_GAME)?;
    let Some(asked) = table.next_question(judge, 0)? else { return Ok(()) };
    if when == When::AfterItsTurn {
        table.hand(judge, asked, 0)?;
    }
    let number = if when == When::BeforeItsTurn { 1 - asked } else { asked };
    let troubled = table.seats.remove(number);
    table.offender = trouble(troubled);
    let played = judge.under(rule, |judge| {
        if when == When::BeforeItsTurn {
            table.hand(judge, 0, 0)?;
        }
        table.finish_round(judge, 0)?;
        table.play(judge, 1, SHORT_GAME)
    });
    wait_for_crash(&mut table.dealer);
    played
}

// A dealer without players may exit or wait for another one.
fn wait_for_crash(dealer: &mut Dealer) {
    dealer.run.exit(Instant::now() + dealer.options.patience / 10);
}

fn flood(seat: &mut Seat) {
    let stream = &mut seat.connection.stream;
    if stream.set_write_timeout(Some(STUCK)).is_err() {
        return;
    }
    let mut written = 0;
    while written < FLOOD && stream.write_all(&CHUNK).is_ok() {
        written += CHUNK.len();
    }
    seat.connection.note(Sender::Tester, &format!("sends 'H' {written} times"));
}

fn latecomers(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut table = subject.table(judge, SHORT_GAME, &[Style::Modest])?;
    table.deal(judge, 0, SHORT_GAME)?;
    let Some(asked) = table.next_question(judge, 0)? else { return Ok(()) };
    let mut late = Vec::new();
    for number in 0..LATE {
        // A dealer may refuse connections that exceed its seats.
        let opened = TcpStream::connect_timeout(&table.dealer.address, STUCK);
        if let Ok(mut stream) = opened {
            let _ = stream.write_all(if number % 2 == 0 { b"JOIN late\0" } else { b"" });
            late.push(stream);
        }
    }
    judge.under(&LATECOMERS, |judge| {
        table.hand(judge, asked, 0)?;
        late.truncate(LATE / 2);
        table.finish_round(judge, 0)?;
        table.play(judge, 1, SHORT_GAME)
    })
}

/// Returns whether the cards allowed a second question: the first card may make the player bust.
fn answers_twice(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult<bool> {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.next_question(judge, 0)?;
    let options = subject.options;
    let Some(seat) = table.seats.first_mut() else { return Ok(true) };
    seat.connection.send(b"HIT\0STAND\0");
    let Arrival::Message(DealerMessage::Card(card)) = seat.receive(judge, options.deadline()) else {
        // A dealer may disconnect a player that sends an answer without a question.
        judge.check(&EARLY_ANSWER, true, String::new);
        return Ok(true);
    };
    seat.hand.push(card);
    // A dealer that sends no question at 21 breaks another rule.
    if seat.hand.points().total() >= BEST {
        return Ok(false);
    }
    let mut received = seat.receive(judge, options.deadline());
    if matches!(received, Arrival::Message(DealerMessage::Result(_))) {
        // Without the early STAND, the dealer would not have sent a question either.
        return Ok(true);
    }
    if received == Arrival::Message(DealerMessage::Decision) {
        received = seat.receive(judge, Instant::now() + options.patience / 20);
    }
    // A hand that stands without being bust cannot lose as bust.
    let result = matches!(received, Arrival::Message(DealerMessage::Result(verdict)) if verdict != Verdict::Bust);
    judge.check(&EARLY_ANSWER, !result, || {
        format!("expected no RESULT before an answer to DECISION, received {received}: the dealer used the STAND sent together with HIT")
    });
    Ok(true)
}

fn offends(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8]) -> ScenarioResult {
    let several = subject.launcher.takes("players");
    let styles: &[Style] = if several { &[Style::Modest, Style::Modest] } else { &[Style::Modest] };
    let mut table = subject.table(judge, SHORT_GAME, styles)?;
    table.deal(judge, 0, SHORT_GAME)?;
    let asked = table.next_question(judge, 0)?;
    let mut offender = table.seats.swap_remove(asked.unwrap_or(0));
    offender.connection.send(bytes);
    table.offender = Some(offender);
    let mut others = Ok(());
    if several {
        others = judge.under(&OTHERS, |judge| {
            table.finish_round(judge, 0)?;
            table.play(judge, 1, SHORT_GAME)
        });
    }
    if let Some(mut offender) = table.offender.take() {
        offender_is_out(judge, &mut offender, &table.offender_messages, &subject.options)?;
    }
    wait_for_crash(&mut table.dealer);
    others
}

fn joins_strangely(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8]) -> ScenarioResult {
    let mut dealer = subject.start(judge, 1, 1)?;
    let mut seat = Seat::connect(judge, &mut dealer, 1)?;
    seat.connection.send(bytes);
    if !bytes.is_empty() {
        seat.connection.more(Instant::now() + subject.options.patience / 10);
    }
    drop(seat);
    wait_for_crash(&mut dealer);
    Ok(())
}

fn offender_is_out(
    judge: &mut Judge,
    offender: &mut Seat,
    earlier: &[DealerMessage],
    options: &Options,
) -> ScenarioResult {
    let by = options.deadline();
    let mut earlier = earlier.iter().map(|message| Arrival::Message(*message));
    loop {
        let received = earlier.next().unwrap_or_else(|| offender.receive(judge, by));
        match received {
            Arrival::Closed => return judge.require(&OFFENDER, true, String::new),
            Arrival::Message(DealerMessage::Quit | DealerMessage::Result(Verdict::Lose | Verdict::Bust)) => {}
            received => {
                return judge.broken(&OFFENDER, || {
                    format!("expected the end of the connection after QUIT at most, received {received}")
                });
            }
        }
    }
}

fn bad_join(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut dealer = subject.start(judge, 1, 1)?;
    for words in [&b"HIT\0"[..], b"join tester\0", b"HELLO tester\0", b"JOIN\0"] {
        let mut seat = Seat::connect(judge, &mut dealer, 1)?;
        seat.connection.send(words);
        let received = loop {
            let received = seat.receive(judge, subject.options.deadline());
            if received != Arrival::Message(DealerMessage::Quit) {
                break received;
            }
        };
        judge.require(&BAD_JOIN, received == Arrival::Closed, || {
            format!("expected the end of the connection after '{}', received {received}", words.escape_ascii())
        })?;
    }
    Table::seat_players(judge, dealer, &[Style::Modest])?.play(judge, 0, 1)
}

fn half_closes(judge: &mut Judge, subject: &Subject<'_>) -> ScenarioResult {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.next_question(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    seat.connection.send(&PlayerMessage::Stand.to_bytes(Dialect::Text));
    seat.connection.end_sending();
    let result = seat.receive(judge, subject.options.deadline());
    let right = matches!(result, Arrival::Message(DealerMessage::Result(_)));
    judge.check(&HALF_CLOSE, right, || format!("expected RESULT after STAND, received {result}"));
    Ok(())
}
