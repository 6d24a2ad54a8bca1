//! Tests players of blackjack.

mod croupier;
mod rules;

use blackjack::{Card, DealerMessage, Dialect, Verdict};

use crate::{
    judge::{Judge, Played},
    launch::{Launcher, Run},
    report::{Report, Rule},
    tester::{Options, Tester},
};
use croupier::{Croupier, Delivery};
use rules::{
    BAD_MESSAGE, BEGIN_AGAIN, DEALER_GONE, EXIT_STATUS, JOINS, LOSE, MERGED, NAMES, PIECES, QUIET, QUITS, RULES,
    SURVIVES,
};

/// The tester of players.
pub static TESTER: Tester = Tester {
    kind: "player",
    is_server: false,
    usual: &["{name}", "{host}", "{port}"],
    known: &["name", "host", "port"],
    needed: &["host", "port"],
    rules: RULES,
    test,
};

/// Rounds in which every card is shown: three open each round.
const ALL_CARDS: usize = 18;
/// Rounds of the other scenarios.
const ROUNDS: usize = 4;

/// The player under test and how it is started.
struct Subject<'a> {
    launcher: &'a dyn Launcher,
    options: Options,
}

impl Subject<'_> {
    /// Starts the player and takes its JOIN.
    fn join(&self, judge: &mut Judge, delivery: Delivery) -> Played<(Croupier, Box<dyn Run>)> {
        Croupier::welcome(judge, self.launcher, self.options, delivery)
    }
}

fn test(launcher: &dyn Launcher, options: &Options) -> anyhow::Result<Report> {
    let mut judge = Judge::new(TESTER.kind, RULES);
    let subject = Subject { launcher, options: *options };
    judge.play("a whole game", |judge| {
        let (mut croupier, run) = subject.join(judge, Delivery::Whole)?;
        croupier.rounds(judge, ROUNDS)?;
        // What it has not understood so far is a card's name.
        croupier.blamed = &NAMES;
        croupier.rounds(judge, ALL_CARDS)?;
        quits(judge, &subject, croupier, run)
    })?;
    if judge.has_failed(&JOINS) {
        // It would be waited for in vain for each scenario.
        return Ok(judge.report());
    }
    for (scenario, rule, delivery) in
        [("messages in single bytes", &PIECES, Delivery::Bytes), ("messages in one segment", &MERGED, Delivery::Merged)]
    {
        judge.play(scenario, |judge| {
            let (mut croupier, run) = subject.join(judge, delivery)?;
            croupier.blamed = rule;
            croupier.rounds(judge, ROUNDS)?;
            quits(judge, &subject, croupier, run)
        })?;
    }
    judge.play("the dealer writes LOSE", |judge| {
        let (mut croupier, run) = subject.join(judge, Delivery::Whole)?;
        croupier.deal(judge)?;
        croupier.hand(judge)?;
        croupier.raw(b"RESULT LOSE\0");
        goes_on(judge, &LOSE, &mut croupier)?;
        quits(judge, &subject, croupier, run)
    })?;
    judge.play("BEGIN in the middle of a round", |judge| {
        let (mut croupier, run) = subject.join(judge, Delivery::Whole)?;
        croupier.deal(judge)?;
        croupier.answer(judge)?;
        goes_on(judge, &BEGIN_AGAIN, &mut croupier)?;
        quits(judge, &subject, croupier, run)
    })?;
    judge.play("QUIT in the middle of a round", |judge| {
        let (mut croupier, run) = subject.join(judge, Delivery::Whole)?;
        croupier.say(DealerMessage::Begin);
        croupier.card();
        quits(judge, &subject, croupier, run)
    })?;
    advice(&mut judge, &subject)?;
    Ok(judge.report())
}

/// Plays another round, if the player has survived what came before.
fn goes_on(judge: &mut Judge, rule: &'static Rule, croupier: &mut Croupier) -> Played {
    croupier.blamed = rule;
    croupier.rounds(judge, 1)
}

/// What is not required, each in a game of its own.
fn advice(judge: &mut Judge, subject: &Subject<'_>) -> anyhow::Result<()> {
    judge.play("a RESULT before any DECISION", |judge| {
        let (mut croupier, run) = subject.join(judge, Delivery::Whole)?;
        croupier.say(DealerMessage::Begin);
        croupier.say(DealerMessage::Result(Verdict::Win));
        goes_on(judge, &SURVIVES, &mut croupier)?;
        quits(judge, subject, croupier, run)
    })?;
    judge.play("a card that comes twice", |judge| {
        let (mut croupier, run) = subject.join(judge, Delivery::Whole)?;
        croupier.say(DealerMessage::Begin);
        for card in [Card::new(2), Card::new(2)].into_iter().flatten() {
            croupier.say(DealerMessage::Card(card));
        }
        goes_on(judge, &SURVIVES, &mut croupier)?;
        quits(judge, subject, croupier, run)
    })?;
    for bytes in [&b"CARD Eleven of Clubs\0"[..], b"\0", &[b'C'; 300]] {
        judge.play("a message that no dealer sends", |judge| {
            let (mut croupier, _run) = subject.join(judge, Delivery::Whole)?;
            croupier.say(DealerMessage::Begin);
            croupier.raw(bytes);
            let ended = croupier.is_left();
            let start = bytes.get(..24).unwrap_or(bytes).escape_ascii();
            judge.check(&BAD_MESSAGE, ended, || format!("it stays connected after '{start}'"));
            Ok(())
        })?;
    }
    judge.play("the dealer goes away", |judge| {
        let (mut croupier, mut run) = subject.join(judge, Delivery::Whole)?;
        croupier.deal(judge)?;
        drop(croupier);
        let exit = run.exit(subject.options.deadline());
        judge.check(&DEALER_GONE, exit.as_ref().is_some_and(|exit| exit.code != Some(0)), || match exit {
            None => "it still runs after the connection was closed in the middle of a round".to_owned(),
            Some(_) => "it ended with status 0, as after QUIT".to_owned(),
        });
        Ok(())
    })
}

/// Sends QUIT and waits for the end of the program.
fn quits(judge: &mut Judge, subject: &Subject<'_>, mut croupier: Croupier, mut run: Box<dyn Run>) -> Played {
    croupier.say(DealerMessage::Quit);
    let left = croupier.is_left();
    let rest = croupier.unasked();
    judge.check(&QUIET, rest.is_empty(), || format!("it sent '{}' although nothing was asked", rest.escape_ascii()));
    judge.require(&QUITS, left, || "the connection is still open after QUIT".to_owned())?;
    drop(croupier);
    let exit = run.exit(subject.options.deadline());
    judge.require(&QUITS, exit.is_some(), || "the program still runs after QUIT".to_owned())?;
    judge.check(&EXIT_STATUS, exit.as_ref().is_some_and(|exit| exit.code == Some(0)), || {
        format!("it did not end with status 0 after QUIT{}", run.obituary())
    });
    Ok(())
}

/// The bytes of a message as dealers send it.
fn text(message: DealerMessage) -> bytes::Bytes {
    message.to_bytes(Dialect::Text)
}
