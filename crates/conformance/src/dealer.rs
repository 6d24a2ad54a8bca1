//! Tests dealers of blackjack.

mod rules;
mod seat;
mod table;
mod trouble;

use crate::{
    judge::{Judge, Played},
    launch::{Launcher, free_tcp_port},
    report::Report,
    tester::{Options, Tester},
};
use rules::{EXIT_STATUS, LISTENS, PIECES, RULES};
use seat::{Dealer, Style};
use table::{EVENTS, Seen, Table};

/// The tester of dealers.
pub static TESTER: Tester = Tester {
    kind: "dealer",
    is_server: true,
    usual: "{port} {rounds}",
    known: &["port", "rounds", "players"],
    needed: &["port", "rounds"],
    rules: RULES,
    test,
};

/// Rounds of a whole game. A dealer that pauses 50 ms after each message needs about 6 seconds for them.
const ROUNDS: u32 = 12;
/// Games that are played at most, after the first ones, until each kind of hand has come. Well shuffled decks mostly need none or one.
const MORE_GAMES: usize = 24;
/// More rounds than are played with a server that was started elsewhere are not counted as wrong: their number is not known.
const ANY: u32 = u32::MAX;

/// The dealer under test and how it is reached.
struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

impl Subject<'_> {
    fn start(&self, rounds: u32, players: usize) -> anyhow::Result<Dealer> {
        let port = free_tcp_port()?;
        let address = self.launcher.address().unwrap_or_else(|| ([127, 0, 0, 1], port).into());
        let (port, rounds, players) = (port.to_string(), rounds.to_string(), players.to_string());
        let run = self.launcher.start(&[("port", port), ("rounds", rounds), ("players", players)])?;
        Ok(Dealer { run, address, options: self.options })
    }

    /// Starts the dealer and seats players with these styles.
    fn table(&self, judge: &mut Judge, rounds: u32, styles: &[Style]) -> Played<Table> {
        Table::sit(judge, self.start(rounds, styles.len())?, styles)
    }
}

fn test(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Report> {
    let mut judge = Judge::new(TESTER.kind, RULES);
    let subject = Subject { launcher, options: *options };
    if launcher.address().is_some() {
        judge.play("the game that waits there", |judge| {
            let styles = [Style::Mixed, Style::Greedy, Style::Modest].into_iter().cycle();
            let styles: Vec<_> = styles.take(options.players.into()).collect();
            subject.table(judge, ANY, &styles)?.play(judge, 0, ANY)
        })?;
        return Ok(judge.report());
    }
    let mut seen = Seen::default();
    judge.play("a whole game", |judge| whole_game(judge, &subject, &[Style::Mixed], &mut seen))?;
    if judge.has_failed(&LISTENS) {
        // It would be waited for in vain for each scenario.
        return Ok(judge.report());
    }
    judge.play("a player that sends single bytes", |judge| {
        let played = subject.table(judge, 3, &[Style::Bytes])?.play(judge, 0, 3);
        judge.check(&PIECES, played.is_ok(), || "the game did not go on as it does with whole messages".to_owned());
        played
    })?;
    let mut styles: &[Style] = &[Style::Mixed];
    if launcher.takes("players") {
        styles = &[Style::Greedy, Style::Mixed, Style::Modest];
        judge.play("three players", |judge| whole_game(judge, &subject, styles, &mut seen))?;
    }
    judge.play("games until each kind of hand has come", |judge| {
        let mut games = 0..MORE_GAMES;
        // With a dealer that is wrong already, some hands may never come.
        while seen.len() < EVENTS && judge.passes() && games.next().is_some() {
            whole_game(judge, &subject, styles, &mut seen)?;
        }
        Ok(())
    })?;
    trouble::play(&mut judge, &subject)?;
    Ok(judge.report())
}

fn whole_game(judge: &mut Judge, subject: &Subject<'_>, styles: &[Style], seen: &mut Seen) -> Played {
    let mut table = subject.table(judge, ROUNDS, styles)?;
    let played = table.play(judge, 0, ROUNDS);
    seen.extend(table.seen);
    played?;
    let run = &mut table.dealer.run;
    let exit = run.exit(subject.options.deadline());
    judge.check(&EXIT_STATUS, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || match exit {
        None => "the dealer still runs after QUIT and the end of all connections".to_owned(),
        Some(_) => format!("the dealer did not end with status 0{}", run.obituary()),
    });
    Ok(())
}
