//! Tests dealers of blackjack.

mod chance;
mod guests;
mod neighbours;
mod odds;
mod questions;
mod results;
mod rules;
mod seat;
mod shuffle;
mod starts;
mod table;
mod trouble;

use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use blackjack::Card;

use crate::{
    judge::{Judge, Played, scene},
    launch::Launcher,
    ports::free_tcp_port,
    tester::{Options, Tester},
    words::blackjack::cards,
};
use chance::Chance;
use questions::{EVENTS, Seen};
use rules::{
    ACE_ONE, ASKED_AGAIN, ASKED_AT_21, BEST_HAND, DRAWN_UNIFORM, EXIT_STATUS, FRESH, LISTENS, LOW_TIE, NATURAL,
    NEIGHBOURS, PIECES, PUSHES, RULES, SEEDED, SOFT_17, UNIFORM, UPCARD_UNIFORM, UPCARDS, WHOLE_DECK, WINS,
};
use seat::{Dealer, Style};
use table::Table;

/// The tester of dealers.
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
        judge.leave_out(rules::OF_SEVERAL, "the command has no {players}");
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
        scene("a player that sends single bytes", |judge| {
            judge.under(&PIECES, |judge| subject.table(judge, 3, &[Style::Bytes])?.play(judge, 0, 3))
        })
        .shows([&PIECES]),
    ];
    scenes.extend(starts::scenes(&subject));
    scenes.extend(guests::scenes(&subject));
    scenes.extend(neighbours::scenes(&subject));
    scenes.extend(trouble::scenes(&subject));
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
