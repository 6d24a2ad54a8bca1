//! Tests dealers of blackjack.

mod chance;
mod rules;
mod table;

use std::{
    io::Write as _,
    net::TcpStream,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use blackjack::{Card, DealerMessage, Dialect, PlayerMessage, Verdict, hand::BEST};

use self::{
    chance::Chance,
    rules::{
        ACE_ONE, ALONE, ASKED_AGAIN, ASKED_AT_21, BAD_JOIN, BEST_HAND, DRAWN_UNIFORM, EARLY_ANSWER, EMPTY, EXIT_STATUS,
        EXPLAINS, EXTRA, FLOODS, FRESH, HALF_CLOSE, HALF_CLOSES, LATE_ANSWER, LATE_JOIN, LATECOMERS, LEAVES,
        LEAVES_EARLY, LEAVES_LATE, LISTENS, LONG_NAME, LOW_TIE, MISSING, NATURAL, NEIGHBOURS, NO_CRASH, ODD_NAME,
        OF_SEVERAL, OFFENDER, OTHERS, PIECES, PLAYERS_MANY, PLAYERS_WORD, PLAYERS_ZERO, PORT_RANGE, PORT_TAKEN,
        PORT_WORD, PUSHES, RESETS, RESTART, ROUNDS_MANY, ROUNDS_NEGATIVE, ROUNDS_WORD, ROUNDS_ZERO, RULES, SAME_NAME,
        SEEDED, SENDS_AHEAD, SHORT_NAME, SOFT_17, SPEAKS_SECOND, TRAILING, UNIFORM, UNKNOWN_OPTION, UPCARD_UNIFORM,
        UPCARDS, VISITOR, WAITS, WHOLE_DECK, WINS,
    },
    table::{Dealer, EVENTS, Heard, Seat, Seen, Style, Table},
};
use crate::{
    judge::{Judge, Played, scene},
    launch::Launcher,
    ports::{free_tcp_port, take_tcp_port},
    refusal::{Desk, MORE, Refusal, refusal},
    report::Sender,
    rule::Rule,
    tester::{Options, Tester},
    words::blackjack::cards,
};

pub static TESTER: Tester = Tester {
    kind: "dealer",
    is_server: true,
    usual: "{port} {rounds}",
    known: &["port", "rounds", "players"],
    needed: &["port", "rounds"],
    rules: RULES,
    takes_part: &[&rules::HIT, &rules::RESULT, &rules::BUST, &rules::FAIR],
    play,
};

/// The number of rounds in a whole game. A dealer that pauses 50 ms after each message needs about 6 seconds for them.
const ROUNDS: u32 = 12;
/// The maximum number of further games until each kind of hand has occurred. Well shuffled decks mostly need at most
/// one.
const MORE_GAMES: usize = 24;
/// The number of rounds of a running server is unknown, so additional rounds are not errors.
const ANY: u32 = u32::MAX;

/// The number of rounds for the statistics. The course's dealers play at most 100,000.
const MANY: u32 = 60_000;
/// The maximum duration of these rounds if the patience is short. A slow program on a busy machine needs it to show
/// that it stands on a soft 17.
const LONGEST: Duration = Duration::from_secs(60);
/// The time from the first cards of one dealer to the start of the next. After it, a generator that is seeded with the
/// time in seconds has another seed.
const APART: Duration = Duration::from_millis(1100);
/// The players of these rounds. The totals at which they stop distinguish the dealer's totals.
const STOPS: [Style; 6] =
    [Style::Until(17), Style::Until(18), Style::Until(19), Style::Modest, Style::Until(20), Style::Until(15)];

/// The dealer under test and how it is reached.
struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

/// The results of all games together.
#[derive(Default)]
struct Tally {
    seen: Seen,
    chance: Chance,
    // The initial cards of the first game, and when they had arrived.
    first: Option<(Instant, Vec<Card>)>,
}

impl Tally {
    fn add(&mut self, table: Table) {
        self.seen.extend(table.seen);
        self.chance.add(table.chance);
    }
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

    /// Starts the dealer and seats players with these styles.
    fn table(&self, judge: &mut Judge, rounds: u32, styles: &[Style]) -> Played<Table> {
        let dealer = self.start(judge, rounds, styles.len())?;
        Table::sit(judge, dealer, styles)
    }
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
    let tally = Mutex::new(Tally::default());
    judge.play("a whole game", |judge| whole_game(judge, &subject, &[Style::Mixed], &tally))?;
    if judge.has_failed(&LISTENS) {
        // Otherwise, each further scenario would wait until its deadline.
        return Ok(());
    }
    let mut styles: &[Style] = &[Style::Mixed];
    if launcher.takes("players") {
        styles = &[Style::Greedy, Style::Mixed, Style::Modest];
        judge.play("three players", |judge| whole_game(judge, &subject, styles, &tally))?;
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
                let tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                tally.seen.len() < EVENTS && !tally.chance.is_strange()
            };
            while is_open() && games.next().is_some() && Instant::now() < by {
                whole_game(judge, &subject, styles, &tally)?;
            }
            Ok(())
        }),
        scene("many rounds", |judge| many_rounds(judge, &subject, &tally)).shows(rare.into_iter().chain(many)),
        scene("two dealers that start at the same time", |judge| two_dealers(judge, &subject, &tally))
            .shows([&SEEDED, &FRESH]),
    ];
    let subject = &subject;
    let is_shown = |rules: &[&Rule]| launcher.takes("players") || !OF_SEVERAL.iter().any(|rule| rules[0] == *rule);
    let table = SCENES.iter().filter(|(_, rules, _)| is_shown(rules));
    scenes.extend(
        table.map(|&(name, rules, run)| scene(name, move |judge| run(judge, subject)).shows(rules.iter().copied())),
    );
    scenes.extend(OFFENCES.iter().map(|&(name, bytes)| {
        scene(name, move |judge| offends(judge, subject, bytes)).shows([&OFFENDER, &OTHERS, &NO_CRASH])
    }));
    scenes.extend(
        STRANGE_JOINS
            .iter()
            .map(|&(name, bytes)| scene(name, move |judge| joins_strangely(judge, subject, bytes)).shows([&NO_CRASH])),
    );
    let values = || {
        let values = [("port", free_tcp_port()?.to_string()), ("rounds", "2".to_owned()), ("players", "1".to_owned())];
        Ok((values.into(), None))
    };
    scenes.extend(Desk { launcher, options: *options, explains: &EXPLAINS, values }.scenes(&REFUSALS));
    judge.side_by_side(scenes)?;
    let chance = tally.into_inner().unwrap_or_else(PoisonError::into_inner).chance;
    judge.play("all rounds together", |judge| {
        chance.judge(judge);
        Ok(())
    })
}

fn whole_game(judge: &mut Judge, subject: &Subject<'_>, styles: &[Style], tally: &Mutex<Tally>) -> Played {
    let mut table = subject.table(judge, ROUNDS, styles)?;
    let played = table.play(judge, 0, ROUNDS);
    if played.is_ok() {
        let run = &mut table.dealer.run;
        let exit = run.exit(subject.options.deadline());
        judge.check(&EXIT_STATUS, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
            None => "expected the dealer to exit after QUIT and the end of all connections, but it is still running"
                .to_owned(),
            Some(_) => format!("expected exit status 0{}", run.obituary()),
        });
    }
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    tally.first = tally.first.take().or_else(|| table.first.clone());
    tally.add(table);
    played
}

// Plays as many rounds as fit into this time. A dealer that pauses plays too few for statistics, which is not an error.
fn many_rounds(judge: &mut Judge, subject: &Subject<'_>, tally: &Mutex<Tally>) -> Played {
    let styles = if subject.launcher.takes("players") { &STOPS[..] } else { &STOPS[..1] };
    let mut table = subject.table(judge, MANY, styles)?;
    let (start, patience) = (Instant::now(), subject.options.patience);
    let latest = start + LONGEST.max(12 * patience);
    let played = table.play_on(judge, MANY, (start + 3 * patience, latest));
    tally.lock().unwrap_or_else(PoisonError::into_inner).add(table);
    played
}

fn two_dealers(judge: &mut Judge, subject: &Subject<'_>, tally: &Mutex<Tally>) -> Played {
    let first = tally.lock().unwrap_or_else(PoisonError::into_inner).first.clone();
    if let Some((dealt, _)) = &first {
        // Some generators are seeded with the time in seconds.
        thread::sleep(APART.saturating_sub(dealt.elapsed()));
    }
    let dealers = [subject.start(judge, 1, 1)?, subject.start(judge, 1, 1)?];
    let mut openings = Vec::new();
    for dealer in dealers {
        let mut table = Table::sit(judge, dealer, &[Style::Modest])?;
        table.deal(judge, 0, 1)?;
        openings.push(table.opening);
    }
    let dealt = openings.first().map_or_else(String::new, cards);
    judge.check(&SEEDED, openings.first() != openings.last(), || {
        format!("expected different cards from two dealers, but both dealt {dealt}")
    });
    let again = first.is_some_and(|(_, first)| openings.contains(&first));
    judge.check(&FRESH, !again, || {
        format!("expected other cards than in an earlier start, but the first round was dealt again: {dealt}")
    });
    Ok(())
}

static REFUSALS: [Refusal; 16] = [
    refusal(&MISSING, "without arguments", &[("port", None), ("rounds", None), ("players", None)]),
    refusal(&MISSING, "without the number of rounds", &[("rounds", None)]),
    refusal(&PORT_WORD, "with the port 'port'", &[("port", Some("port"))]),
    refusal(&PORT_RANGE, "with port 65536", &[("port", Some("65536"))]),
    refusal(&ROUNDS_WORD, "with 'many' rounds", &[("rounds", Some("many"))]),
    refusal(&ROUNDS_ZERO, "with 0 rounds", &[("rounds", Some("0"))]),
    refusal(&ROUNDS_NEGATIVE, "with -3 rounds", &[("rounds", Some("-3"))]),
    refusal(&PLAYERS_ZERO, "with 0 seats", &[("players", Some("0"))]),
    refusal(&PLAYERS_WORD, "with 'two' seats", &[("players", Some("two"))]),
    refusal(&PLAYERS_MANY, "with 7 seats", &[("players", Some("7"))]),
    refusal(&ROUNDS_MANY, "with 99999999999999999999 rounds", &[("rounds", Some("99999999999999999999"))]),
    refusal(&TRAILING, "with '12x' rounds", &[("rounds", Some("12x"))]),
    refusal(&TRAILING, "with '1.5' rounds", &[("rounds", Some("1.5"))]),
    refusal(&EMPTY, "with an empty word for the rounds", &[("rounds", Some(""))]),
    refusal(&EXTRA, "with one argument more", &[(MORE, Some("5"))]),
    refusal(&UNKNOWN_OPTION, "with the option --no-such-option", &[(MORE, Some("--no-such-option"))]),
];

type Scenario = fn(&mut Judge, &Subject<'_>) -> Played;

/// The scenarios with a dealer of their own, with the rules that they are designed to observe. If the first rule is one of
/// [`OF_SEVERAL`], the scenario needs several players.
const SCENES: &[(&str, &[&Rule], Scenario)] = &[
    ("a player that sends single bytes", &[&PIECES], |judge, subject| {
        judge.under(&PIECES, |judge| subject.table(judge, 3, &[Style::Bytes])?.play(judge, 0, 3))
    }),
    ("a name of 64 characters", &[&LONG_NAME, &NO_CRASH], |judge, subject| {
        named(judge, subject, &LONG_NAME, &["aNameOf64CharactersIsTheLongestThatThereIs0123456789abcdefghijkl"])
    }),
    ("a name of one character", &[&SHORT_NAME, &NO_CRASH], |judge, subject| named(judge, subject, &SHORT_NAME, &["x"])),
    ("a name with special characters", &[&ODD_NAME, &NO_CRASH], |judge, subject| {
        named(judge, subject, &ODD_NAME, &["%s%n%d\"'\\`$(x);&|<>~"])
    }),
    ("two players with the same name", &[&SAME_NAME, &NO_CRASH], |judge, subject| {
        named(judge, subject, &SAME_NAME, &["twin", "twin"])
    }),
    ("a player joins long after another", &[&WAITS], waits),
    ("a client that joins late", &[&SPEAKS_SECOND, &LATE_JOIN], slow),
    ("a player that answers late", &[&LATE_ANSWER], late_answer),
    ("a visitor", &[&VISITOR, &NO_CRASH], |judge, subject| judge.under(&VISITOR, |judge| visitor(judge, subject))),
    ("the only player leaves", &[&ALONE, &NO_CRASH], alone),
    ("restart on the same port", &[&RESTART], |judge, subject| judge.under(&RESTART, |judge| restart(judge, subject))),
    ("a port in use", &[&PORT_TAKEN], taken),
    ("a player leaves during its turn", &[&LEAVES, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &LEAVES, When::Asked, |_| None)
    }),
    ("a player leaves before its turn", &[&LEAVES_EARLY, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &LEAVES_EARLY, When::BeforeItsTurn, |_| None)
    }),
    ("a player leaves after its turn", &[&LEAVES_LATE, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &LEAVES_LATE, When::AfterItsTurn, |_| None)
    }),
    ("the connection of a player is reset", &[&RESETS, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &RESETS, When::Asked, |seat| {
            seat.connection.reset();
            None
        })
    }),
    ("a player closes its sending side during its turn", &[&HALF_CLOSES, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &HALF_CLOSES, When::Asked, |seat| {
            seat.connection.end_sending();
            Some(seat)
        })
    }),
    ("a player sends without end", &[&FLOODS, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &FLOODS, When::Asked, |mut seat| {
            flood(&mut seat);
            Some(seat)
        })
    }),
    ("a player answers before its turn", &[&SENDS_AHEAD, &NO_CRASH], |judge, subject| {
        troubled(judge, subject, &SENDS_AHEAD, When::BeforeItsTurn, |mut seat| {
            seat.connection.send(&b"HIT\0".repeat(20));
            Some(seat)
        })
    }),
    ("clients that connect during a game", &[&LATECOMERS, &NO_CRASH], latecomers),
    ("a player answers twice", &[&EARLY_ANSWER, &NO_CRASH], |judge, subject| {
        for _ in 0..ATTEMPTS {
            if answers_twice(judge, subject)? {
                break;
            }
        }
        Ok(())
    }),
    ("a client that does not join", &[&BAD_JOIN, &NO_CRASH], |judge, subject| {
        judge.under(&BAD_JOIN, |judge| bad_join(judge, subject))
    }),
    ("a player closes its sending side", &[&HALF_CLOSE, &NO_CRASH], half_closes),
];

/// The number of games that are started until a card allows the player another decision.
const ATTEMPTS: usize = 8;

/// Messages that a player sends instead of an answer.
const OFFENCES: &[(&str, &[u8])] = &[
    ("a player answers with an unknown word", b"FOLD\0"),
    ("a player answers in lower case", b"hit\0"),
    ("a player answers with an extra space", b"STAND \0"),
    ("a player sends an empty message", b"\0"),
    ("a player joins twice", b"JOIN again\0"),
    ("a player sends a word of the dealer", b"BEGIN\0"),
    ("a player sends 300 bytes without NUL", &[b'H'; 300]),
];

/// Messages that a client sends instead of a valid JOIN. A correct dealer may react in any way other than a crash.
const STRANGE_JOINS: &[(&str, &[u8])] = &[
    ("a client that leaves before JOIN", b""),
    ("a name of 300 bytes", &strange_name()),
    ("10,000 bytes instead of JOIN", &[b'J'; 10_000]),
];

const fn strange_name() -> [u8; 306] {
    let mut join = [b'n'; 306];
    [join[0], join[1], join[2], join[3], join[4], join[305]] = *b"JOIN \0";
    join
}

fn named(judge: &mut Judge, subject: &Subject<'_>, rule: &'static Rule, names: &[&str]) -> Played {
    judge.under(rule, |judge| {
        let mut dealer = subject.start(judge, 1, names.len())?;
        let mut seats = Vec::new();
        for (number, name) in (1..).zip(names) {
            let mut seat = Seat::connect(judge, &mut dealer, number)?;
            // A greedy player has several questions, so the remaining bytes of a JOIN that was read in part appear as
            // an invalid answer.
            seat.style = Style::Greedy;
            seat.join(name)?;
            seats.push(seat);
        }
        Table::of(dealer, seats).play(judge, 0, 1)
    })
}

fn waits(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 2)?;
    let mut first = Seat::connect(judge, &mut dealer, 1)?;
    first.style = Style::Modest;
    first.join("tester1")?;
    let heard = first.listen(judge, Instant::now() + subject.options.patience / 20);
    judge.require(&WAITS, heard == Heard::Nothing, || {
        format!("expected nothing before the second of two players has joined, received {heard}")
    })?;
    let mut second = Seat::connect(judge, &mut dealer, 2)?;
    second.style = Style::Modest;
    second.join("tester2")?;
    judge.under(&WAITS, |judge| Table::of(dealer, vec![first, second]).play(judge, 0, 1))
}

fn slow(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    let mut seat = Seat::connect(judge, &mut dealer, 1)?;
    seat.style = Style::Modest;
    let heard = seat.listen(judge, Instant::now() + subject.options.patience / 20);
    judge.require(&SPEAKS_SECOND, !matches!(heard, Heard::Message(_)), || {
        format!("expected nothing before JOIN, received {heard}")
    })?;
    seat.join("tester1")?;
    judge.under(&LATE_JOIN, |judge| Table::of(dealer, vec![seat]).play(judge, 0, 1))
}

fn late_answer(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    let early = seat.listen(judge, Instant::now() + subject.options.patience / 10);
    seat.say(&PlayerMessage::Stand);
    let heard = if early == Heard::Nothing { seat.listen(judge, subject.options.deadline()) } else { early };
    judge.check(&LATE_ANSWER, matches!(heard, Heard::Message(DealerMessage::Result(_))), || {
        format!("expected RESULT after a late STAND, received {heard}")
    });
    Ok(())
}

fn visitor(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    drop(Seat::connect(judge, &mut dealer, 1)?);
    Table::sit(judge, dealer, &[Style::Modest])?.play(judge, 0, 1)
}

fn alone(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 2, &[Style::Modest])?;
    table.deal(judge, 0, 2)?;
    table.asked(judge, 0)?;
    table.seats.clear();
    let exit = table.dealer.run.exit(subject.options.deadline());
    judge.check(&ALONE, exit.is_some(), || {
        "expected the dealer to exit after its only player has left, but it is still running".to_owned()
    });
    Ok(())
}

fn restart(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let port = free_tcp_port()?;
    for _ in 0..2 {
        let dealer = subject.start_at(judge, port, 1, 1)?;
        let mut table = Table::sit(judge, dealer, &[Style::Modest])?;
        table.play(judge, 0, 1)?;
        table.dealer.run.exit(subject.options.deadline());
    }
    Ok(())
}

fn taken(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let (held, port) = take_tcp_port()?;
    let mut dealer = subject.start_at(judge, port, 1, 1)?;
    judge.refuses(&PORT_TAKEN, &mut *dealer.run, subject.options.deadline(), "the dealer, started on a port in use");
    drop(held);
    Ok(())
}

/// The number of rounds. One player breaks the protocol in the first.
const SHORT_GAME: u32 = 2;
/// The maximum number of bytes of a player that sends without end. It sends as many of them as the dealer accepts
/// within a while.
const FLOOD: usize = 4 << 20;
static CHUNK: [u8; 1 << 16] = [b'H'; 1 << 16];
/// How long a dealer may leave such bytes unread before the player gives up.
const STUCK: Duration = Duration::from_millis(200);
/// The number of connections during a game.
const LATE: usize = 4;

/// The time at which a player breaks the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    Asked,
    /// While the other player has a question.
    BeforeItsTurn,
    /// After it has stood.
    AfterItsTurn,
}

/// The action of the player at that time. It may return the seat to keep it connected.
type Trouble = fn(Seat) -> Option<Seat>;

fn troubled(judge: &mut Judge, subject: &Subject<'_>, rule: &'static Rule, when: When, trouble: Trouble) -> Played {
    let mut table = subject.table(judge, SHORT_GAME, &[Style::Modest, Style::Modest])?;
    table.deal(judge, 0, SHORT_GAME)?;
    let Some(asked) = table.asked(judge, 0)? else { return Ok(()) };
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
    last_look(&mut table.dealer);
    played
}

// A dealer whose only player has disconnected may exit or wait for another one. A crash would occur soon.
fn last_look(dealer: &mut Dealer) {
    dealer.run.exit(Instant::now() + dealer.options.patience / 10);
}

fn flood(seat: &mut Seat) {
    let stream = &mut seat.connection.stream;
    // Without a timeout, the first write that does not fit would block forever.
    if stream.set_write_timeout(Some(STUCK)).is_err() {
        return;
    }
    let mut written = 0;
    while written < FLOOD && stream.write_all(&CHUNK).is_ok() {
        written += CHUNK.len();
    }
    seat.connection.note(Sender::Tester, &format!("sends 'H' {written} times"));
}

fn latecomers(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, SHORT_GAME, &[Style::Modest])?;
    table.deal(judge, 0, SHORT_GAME)?;
    let Some(asked) = table.asked(judge, 0)? else { return Ok(()) };
    let mut late = Vec::new();
    for number in 0..LATE {
        // A dealer need not accept more connections than it has seats.
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

/// Returns whether a second question was due, since the first card may have made the player bust.
fn answers_twice(judge: &mut Judge, subject: &Subject<'_>) -> Played<bool> {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let options = subject.options;
    let Some(seat) = table.seats.first_mut() else { return Ok(true) };
    seat.connection.send(b"HIT\0STAND\0");
    let Heard::Message(DealerMessage::Card(card)) = seat.listen(judge, options.deadline()) else {
        // A dealer may close the connection of a player that sends an answer without a question.
        judge.check(&EARLY_ANSWER, true, String::new);
        return Ok(true);
    };
    seat.hand.push(card);
    // A dealer that sends no question at 21 breaks another rule.
    if seat.hand.points().total() >= BEST {
        return Ok(false);
    }
    let mut heard = seat.listen(judge, options.deadline());
    if matches!(heard, Heard::Message(DealerMessage::Result(_))) {
        // The dealer would not have sent a question without STAND either.
        return Ok(true);
    }
    if heard == Heard::Message(DealerMessage::Decision) {
        heard = seat.listen(judge, Instant::now() + options.patience / 20);
    }
    // A hand that has stood without being bust cannot be bust.
    let result = matches!(heard, Heard::Message(DealerMessage::Result(verdict)) if verdict != Verdict::Bust);
    judge.check(&EARLY_ANSWER, !result, || {
        format!("expected no RESULT before an answer to DECISION, received {heard}: the dealer used the STAND sent together with HIT")
    });
    Ok(true)
}

/// One player breaks the protocol, and the other players continue.
fn offends(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8]) -> Played {
    let several = subject.launcher.takes("players");
    let styles: &[Style] = if several { &[Style::Modest, Style::Modest] } else { &[Style::Modest] };
    let mut table = subject.table(judge, SHORT_GAME, styles)?;
    table.deal(judge, 0, SHORT_GAME)?;
    let asked = table.asked(judge, 0)?;
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
        offender_is_out(judge, &mut offender, &table.told, &subject.options)?;
    }
    last_look(&mut table.dealer);
    others
}

fn joins_strangely(judge: &mut Judge, subject: &Subject<'_>, bytes: &[u8]) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    let mut seat = Seat::connect(judge, &mut dealer, 1)?;
    seat.connection.send(bytes);
    if !bytes.is_empty() {
        // Any reaction of the dealer is allowed.
        seat.connection.more(Instant::now() + subject.options.patience / 10);
    }
    drop(seat);
    last_look(&mut dealer);
    Ok(())
}

fn offender_is_out(judge: &mut Judge, offender: &mut Seat, told: &[DealerMessage], options: &Options) -> Played {
    let by = options.deadline();
    let mut told = told.iter().map(|message| Heard::Message(*message));
    loop {
        let heard = told.next().unwrap_or_else(|| offender.listen(judge, by));
        match heard {
            Heard::Closed => return judge.require(&OFFENDER, true, String::new),
            Heard::Message(DealerMessage::Quit | DealerMessage::Result(Verdict::Lose | Verdict::Bust)) => {}
            heard => {
                return judge.broken(&OFFENDER, || {
                    format!("expected the end of the connection after QUIT at most, received {heard}")
                });
            }
        }
    }
}

fn bad_join(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut dealer = subject.start(judge, 1, 1)?;
    for words in [&b"HIT\0"[..], b"join tester\0", b"HELLO tester\0", b"JOIN\0"] {
        let mut seat = Seat::connect(judge, &mut dealer, 1)?;
        seat.connection.send(words);
        let heard = loop {
            let heard = seat.listen(judge, subject.options.deadline());
            if heard != Heard::Message(DealerMessage::Quit) {
                break heard;
            }
        };
        judge.require(&BAD_JOIN, heard == Heard::Closed, || {
            format!("expected the end of the connection after '{}', received {heard}", words.escape_ascii())
        })?;
    }
    // The next joining client gets the seat.
    Table::sit(judge, dealer, &[Style::Modest])?.play(judge, 0, 1)
}

fn half_closes(judge: &mut Judge, subject: &Subject<'_>) -> Played {
    let mut table = subject.table(judge, 1, &[Style::Modest])?;
    table.deal(judge, 0, 1)?;
    table.asked(judge, 0)?;
    let Some(seat) = table.seats.first_mut() else { return Ok(()) };
    seat.connection.send(&PlayerMessage::Stand.to_bytes(Dialect::Text));
    seat.connection.end_sending();
    let result = seat.listen(judge, subject.options.deadline());
    let right = matches!(result, Heard::Message(DealerMessage::Result(_)));
    judge.check(&HALF_CLOSE, right, || format!("expected RESULT after STAND, received {result}"));
    Ok(())
}
